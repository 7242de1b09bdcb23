package import MergeCore

/// The features in which the SQL of one engine, and what it shows of itself, differs from that of others.
package protocol Dialect: Sendable {
    /// The name that tells dialects apart, and that marks of databases begin with.
    var name: String { get }

    // MARK: Words

    /// The mark around names; inside a name it is doubled.
    var quotationMark: Character { get }

    /// The clause that makes a SELECT lock its rows; empty where a transaction that writes has all of them to itself.
    var lockingClause: String { get }

    /// The same, failing at once where another transaction holds one of them.
    var impatientLockingClause: String { get }

    /// An INSERT of nothing but defaults, behind the table's name.
    var defaultRow: String { get }

    /// The beginning of an INSERT that passes over a row whose key is there already.
    var insertIfAbsent: String { get }

    /// Returns an expression that joins two texts.
    func joined(_ first: String, with second: String) -> String

    /// Returns an expression for the part of a column's text from a character, counted from 1, up to a mark behind it.
    func part(of column: String, from start: Int, upTo mark: Character) -> String

    /// Returns what follows a value that a foreign key compares with a column which refers to it.
    ///
    /// - Parameter collation: of the column that the key refers to.
    func comparing(under collation: Collation?) -> String

    /// Returns the violation that the database tells of where a foreign key finds no row.
    func violation(of key: ForeignKey) -> ConstraintViolation

    // MARK: Time

    /// The moment of a statement by the database's own clock, in UTC.
    var now: String { get }

    /// The digits of a second that `now` has.
    var nowFraction: Int { get }

    /// The moment of a statement to the second, as text such as 2026-11-20T10:00:00Z.
    var nowText: String { get }

    /// The same in whole seconds since 1970.
    var nowSeconds: String { get }

    /// The name of the type to which CAST converts a text that contains a whole number.
    var wholeNumberType: String { get }

    /// Returns the moment so many seconds after `now`.
    func now(plusSeconds seconds: Int) -> String

    /// Returns the moment so many days before `now`.
    func now(minusDays days: Int) -> String

    // MARK: Histories

    /// The questions for the identity of the server and its commit position; the first that the server understands counts.
    /// There are none if the database is a file.
    var serverPositions: [Statement] { get }

    /// Returns the SQL text that raises the counter of generated keys of a table past a key.
    func raise(counterOf table: TableName, above key: Int128) -> String

    // MARK: Schemas

    /// The question for the name of the database: its schema, or the path of its file.
    var databaseName: String { get }

    /// A database is a file, as is the journal beside it; else it is a schema on a server.
    var isFile: Bool { get }

    /// Returns the question for the path of the file that a schema is; nil where schemas lie on a server.
    func file(ofSchema schema: String) -> String?

    /// Returns the question whether a schema is there, with a row where it is; nil where each that is named is there.
    func search(forSchema schema: String) -> Statement?

    /// Returns the statement that makes a schema where it is missing; nil where each that is named is there.
    func creation(ofSchema schema: String) -> Statement?

    /// The functions that take and free a lock of a name, each with a mark for the name, which come to 1 where they
    /// succeed; nil where a transaction that writes has everything to itself.
    var namedLock: (take: String, free: String)? { get }

    // MARK: The journal

    /// Returns the statements that make the journal's tables, each harmless where they are there already.
    func creation(of journal: JournalTables) -> [Statement]

    /// Returns the statements that make the feed's tables, each harmless where they are there already.
    func creation(of feed: FeedTables) -> [Statement]

    /// Returns the text of the INSERT that notes the last change of so many records in place of those noted before.
    ///
    /// Each row has marks for its resource, record, the digest of both where there is one, revision, entry, sender, device
    /// and conditions, in this order; no conditions leave those that are there.
    func upsert(changes: Int, in feed: FeedTables) -> String

    /// Returns the text of the INSERT that notes so many departures.
    ///
    /// Each row has marks for its revision, `address(of:)`, entry, sender and device, in this order.
    func insert(departures: Int, in feed: FeedTables) -> String

    /// The condition that a departure `d` is of the record of a change `c`.
    var isOfChange: String { get }

    /// Returns the condition that a row of `changes` is of one of so many records, each with marks for `address(of:)`.
    func changesNamed(_ count: Int) -> String

    /// Returns the digest of a record's name that is the key of the feed's tables; nil where the name itself is.
    func digest(of name: RecordName) -> [UInt8]?

    /// Returns the question when a table was last written to, and what time it is, both in seconds since 1970; nil where
    /// the database never tells, and no row, or NULL, where it does not know.
    func lastWrite(to table: TableName) -> Statement?

    /// The question for a number that the commits of other connections change, and nothing else does; nil where there
    /// is none.
    var fileVersion: Statement? { get }

    /// The first number that the INSERT before generated, as SQL.
    var firstGenerated: String { get }

    /// The distance between two generated numbers, as SQL.
    var generatedStep: String { get }

    /// Revisions are given in the transaction of the merge, because only one writes at a time; else once it is committed.
    var sequencesWithMerge: Bool { get }

    /// Returns the question for the number of rows of a table as the database estimates it, without counting; nil where
    /// it cannot tell.
    func estimate(of table: TableName) -> Statement?

    /// Returns the question for the number of rows of the journal as the database estimates it, and the size in bytes.
    func size(of journal: JournalTables) -> Statement

    // MARK: What can be known

    /// Every user sees all triggers and foreign keys; else only those of tables on which it has rights.
    var showsWholeSchema: Bool { get }

    /// A trigger may change other rows of the table that it stands on.
    var triggersReachTheirTable: Bool { get }
}

extension Dialect {
    /// Returns the values by which rows of the feed's tables find a record: the digest of its name, or else its resource
    /// and its record.
    func address(of name: RecordName) -> [Bind] {
        if let digest = digest(of: name) { return [JournalTables.bind(digest)] }
        return [JournalTables.bind(name.resource), JournalTables.bind(name.record)]
    }

    /// An identifier in quotes, whatever characters it has.
    package func quoted(_ name: String) -> String {
        let mark = String(quotationMark)
        return mark + doubling(quotationMark, in: name) + mark
    }

    /// Returns the table's name, and its schema's before it, in quotes.
    package func quoted(_ table: TableName) -> String {
        (table.schema.map { quoted($0) + "." } ?? "") + quoted(table.name)
    }

    private func doubling(_ mark: Character, in name: String) -> String {
        guard let byte = mark.asciiValue, name.utf8.contains(byte) else { return name }
        var out = ""
        for character in name {
            out.append(character)
            if character == mark { out.append(mark) }
        }
        return out
    }
}
