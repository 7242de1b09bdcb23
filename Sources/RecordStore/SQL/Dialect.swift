package import MergeCore

/// The SQL of one database engine.
package protocol Dialect: Sendable {
    /// The name of the dialect, which also prefixes database marks.
    var name: String { get }

    // MARK: Syntax

    /// The quotation mark around names; inside a name it is doubled.
    var quotationMark: Character { get }

    /// The clause that makes a SELECT lock its rows; empty if a writing transaction locks the whole database.
    var lockingClause: String { get }

    /// The locking clause that fails at once if another transaction has locked a row.
    var impatientLockingClause: String { get }

    /// The clause that keeps other transactions from writing the rows of a SELECT; empty like `lockingClause`.
    var sharedLockingClause: String { get }

    /// Returns the condition that two texts have the same characters, whatever their collations.
    func isExactly(_ first: String, _ second: String) -> String

    /// Returns the expression by which a subquery returns a value of a type as a SELECT would.
    func subqueryValue(_ expression: String, _ type: ColumnType) -> String

    /// The rest of an INSERT of defaults only, after the table's name.
    var defaultRow: String { get }

    /// The beginning of an INSERT that skips a row whose key exists.
    var insertIfAbsent: String { get }

    /// Returns an expression that joins two texts.
    func joined(_ first: String, with second: String) -> String

    /// Returns an expression for the part of a column's text from a position, counted from 1, to the next mark.
    func part(of column: String, from start: Int, upTo mark: Character) -> String

    /// Returns the suffix of a value that a foreign key compares with a referring column.
    ///
    /// - Parameter collation: of the column that the key refers to.
    func comparing(under collation: Collation?) -> String

    /// Returns the violation that the database reports if a foreign key finds no row.
    func violation(of key: ForeignKey) -> ConstraintViolation

    // MARK: Time

    /// The time of a statement by the database's clock, in UTC.
    var now: String { get }

    /// The digits of a second in `now`.
    var nowFraction: Int { get }

    /// The time of a statement to the second, as text such as 2026-11-20T10:00:00Z.
    var nowText: String { get }

    /// The time of a statement in whole seconds since 1970.
    var nowSeconds: String { get }

    /// The type to which CAST converts the text of a whole number.
    var wholeNumberType: String { get }

    /// Returns the time a number of seconds after `now`.
    func now(plusSeconds seconds: Int) -> String

    /// Returns the time a number of days before `now`.
    func now(minusDays days: Int) -> String

    // MARK: Histories

    /// The queries for the server's identity and commit position; empty if the database is a file.
    ///
    /// The gateway uses the first query that the server understands.
    var serverPositions: [Statement] { get }

    /// Returns the SQL that raises a table's counter of generated keys past a key.
    func raise(counterOf table: TableName, above key: Int128) -> String

    // MARK: Schemas

    /// The query for the name of the database: its schema, or the path of its file.
    var databaseName: String { get }

    /// True if the database and its journal are files; false if they are schemas on a server.
    var isFile: Bool { get }

    /// Returns the query for the path of a schema's file; nil if schemas are on a server.
    func file(ofSchema schema: String) -> String?

    /// Returns the query that has a row if a schema exists; nil if every named schema exists.
    func search(forSchema schema: String) -> Statement?

    /// Returns the statement that creates a missing schema; nil if every named schema exists.
    func creation(ofSchema schema: String) -> Statement?

    /// The functions that acquire and release a named lock; each has a placeholder for the name and returns 1 on
    /// success.
    ///
    /// nil if a writing transaction locks the whole database.
    var namedLock: (take: String, free: String)? { get }

    // MARK: The journal

    /// Returns the statements that create the journal's tables; existing tables stay unchanged.
    func creation(of journal: JournalTables) -> [Statement]

    /// Returns the statements that create the feed's tables; existing tables stay unchanged.
    func creation(of feed: FeedTables) -> [Statement]

    /// Returns the statement that creates the table of devices unless it exists.
    func creation(ofClients table: TableName) -> Statement

    /// Returns the INSERT that stores a number of devices.
    ///
    /// Each row has placeholders for sender, device, program, feed and revision. NULL keeps the stored value.
    func upsert(clients: Int, in table: TableName) -> String

    /// Returns the INSERT that stores the last change of each of a number of records.
    ///
    /// Each row has placeholders for resource, record, digest (if the dialect has one), revision, entry, sender, device
    /// and conditions. NULL conditions keep the stored conditions.
    func upsert(changes: Int, in feed: FeedTables) -> String

    /// Returns the INSERT that stores a number of departures.
    ///
    /// Each row has placeholders for revision, `address(of:)`, entry, sender and device.
    func insert(departures: Int, in feed: FeedTables) -> String

    /// The condition that a departure `d` and a change `c` concern the same record.
    var isOfChange: String { get }

    /// Returns the condition that a row of `changes` concerns one of a number of records.
    ///
    /// Each record has placeholders for `address(of:)`.
    func changesNamed(_ count: Int) -> String

    /// Returns the digest that identifies a record in the feed's tables; nil if the name itself does.
    func digest(of name: RecordName) -> [UInt8]?

    /// Returns the query for a table's last write and the current time, both in seconds since 1970.
    ///
    /// It is nil if the database never records the last write. An unknown time is no row or NULL.
    func lastWrite(to table: TableName) -> Statement?

    /// The query for a number that changes only with commits of other connections; nil if there is none.
    var fileVersion: Statement? { get }

    /// The first number that the preceding INSERT generated, as SQL.
    var firstGenerated: String { get }

    /// The distance between two generated numbers, as SQL.
    var generatedStep: String { get }

    /// True if the transaction of the merge assigns the revisions, because only one transaction writes at a time.
    var sequencesWithMerge: Bool { get }

    /// Returns the query for the estimated number of rows of a table; nil if the database has no estimate.
    func estimate(of table: TableName) -> Statement?

    /// Returns the query for the estimated number of rows of the journal and its size in bytes.
    func size(of journal: JournalTables) -> Statement

    // MARK: Visibility of the schema

    /// True if every user sees all triggers and foreign keys; false if a user sees only those of permitted tables.
    var showsWholeSchema: Bool { get }

    /// True if a trigger may change other rows of its own table.
    var triggersReachTheirTable: Bool { get }
}

extension Dialect {
    /// Returns the values that identify a record in the feed's tables: its digest, or its resource and key.
    func address(of name: RecordName) -> [Bind] {
        if let digest = digest(of: name) { return [JournalTables.bind(digest)] }
        return [JournalTables.bind(name.resource), JournalTables.bind(name.record)]
    }

    /// Returns a name in quotes, whatever characters it has.
    package func quoted(_ name: String) -> String {
        let mark = String(quotationMark)
        return mark + doubling(quotationMark, in: name) + mark
    }

    /// Returns the name of a table, with its schema if it has one, in quotes.
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
