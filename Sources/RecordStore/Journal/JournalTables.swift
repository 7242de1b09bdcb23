package import MergeCore

/// The tables in which FieldMerge keeps what it merged, outside the legacy schema.
///
/// One row stands for one edited record, with the push's key and answer in the push's first row, so that one INSERT
/// with several rows keeps everything that a push leaves behind.
package struct JournalTables: Sendable {
    /// The schema on the MariaDB server, or the name under which the SQLite file is attached.
    package let schema: String
    /// The dialect of the database that the tables are in.
    package let dialect: any Dialect
    /// Counts what is written here.
    package let meter = JournalMeter()
    private let floor = RevisionFloor()

    /// The name under which a SQLite journal is attached to the legacy file's connection.
    package static let attachedName = "fieldmerge_journal"

    /// The version of the rows' form; counts up with every change that an older gateway could not read.
    ///
    /// Since 2 long bodies, answers and entries are packed; rows of 1 are read as they are. Since 3 each merge leaves a
    /// row for the feed, whose changes an older gateway would leave out. Since 4 rows of the feed tell what conditions of
    /// access look at, and marks tell which changes of other programs are known. Since 5 departures stay behind where a
    /// record moves on, which an older gateway would leave out.
    package static let version = 5

    /// Names the tables in a schema.
    package init(schema: String, dialect: any Dialect) {
        self.schema = schema
        self.dialect = dialect
    }

    /// The table of the entries.
    package var entries: TableName { TableName(schema: schema, name: "entries") }
    /// The table of what the journal knows of itself.
    package var meta: TableName { TableName(schema: schema, name: "meta") }
    private var entriesSQL: String { dialect.quoted(entries) }
    private var metaSQL: String { dialect.quoted(meta) }

    /// The moment of a statement by the database's own clock, in UTC.
    package var now: String { dialect.now }

    /// The tables of the feed beside it.
    package var feed: FeedTables { FeedTables(schema: schema, dialect: dialect, floor: floor) }

    /// The statements that make the tables, each harmless where they are there already.
    package var creation: [Statement] { dialect.creation(of: self) + feed.creation }

    // MARK: Settings of the journal itself

    /// Returns the statement that reads a value of the journal about itself.
    package func meta(_ name: String) -> Statement {
        Statement(
            sql: "SELECT value FROM \(metaSQL) WHERE name = ?", binds: [Self.bind(name)], columns: [JournalColumn.text])
    }

    /// Sets what is not set yet.
    package func setMeta(_ name: String, _ value: String) -> Statement {
        Statement(
            sql: "\(dialect.insertIfAbsent) INTO \(metaSQL) (name, value) VALUES (?, ?)",
            binds: [Self.bind(name), Self.bind(value)])
    }

    /// Returns the statement that removes a value of the journal about itself.
    package func removeMeta(_ name: String) -> Statement {
        Statement(sql: "DELETE FROM \(metaSQL) WHERE name = ?", binds: [Self.bind(name)])
    }

    /// The name of the value that contains the time since which the journal has all keys, in microseconds since 1970.
    package static let keysSince = "keys-since"

    /// Returns the statements that set the time since which the journal has all keys, unless a later one is set.
    ///
    /// - Parameter moment: microseconds since 1970.
    package func setKeysSince(_ moment: Int) -> [Statement] {
        [
            setMeta(Self.keysSince, "0"),
            Statement(
                sql: "UPDATE \(metaSQL) SET value = ? WHERE name = ? AND CAST(value AS \(dialect.wholeNumberType)) < ?",
                binds: [Self.bind(String(moment)), Self.bind(Self.keysSince), Self.bind(moment)]),
        ]
    }

    // MARK: A journal of its own: what is kept before the merge is committed

    private static let pendingPrefix = "pending:"

    /// Notes that rows of the journal stand for a merge that is not known to be committed.
    package func setPending(_ token: String, _ numbers: ClosedRange<Int>) -> Statement {
        setMeta(Self.pendingPrefix + token, "\(numbers.lowerBound)-\(numbers.upperBound)")
    }

    /// Returns the statement that takes the note of `setPending` back.
    package func settled(_ token: String) -> Statement { removeMeta(Self.pendingPrefix + token) }

    /// The statement that reads what `setPending` has noted.
    package var allPending: Statement {
        Statement(
            sql: "SELECT name, value FROM \(metaSQL) WHERE name LIKE '\(Self.pendingPrefix)%' ORDER BY value",
            binds: [],
            columns: [JournalColumn.text, JournalColumn.text])
    }

    /// Reads a row of `allPending`.
    package func pending(_ row: [Value]) -> (token: String, numbers: ClosedRange<Int>)? {
        guard row.count == 2, case .text(let name) = row[0], case .text(let value) = row[1] else { return nil }
        let parts = value.string.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 2, parts[0] <= parts[1] else { return nil }
        return (String(name.string.dropFirst(Self.pendingPrefix.count)), parts[0]...parts[1])
    }

    /// The entries of a range of numbers.
    package func entries(_ numbers: ClosedRange<Int>) -> Statement {
        Statement(
            sql: "SELECT resource, entry FROM \(entriesSQL) WHERE n BETWEEN ? AND ? AND status = 'merged' ORDER BY n",
            binds: [Self.bind(numbers.lowerBound), Self.bind(numbers.upperBound)],
            columns: [JournalColumn.text, JournalColumn.bytes])
    }

    /// Returns the statement that deletes the entries of a range of numbers.
    package func delete(_ numbers: ClosedRange<Int>) -> Statement {
        Statement(
            sql: "DELETE FROM \(entriesSQL) WHERE n BETWEEN ? AND ?",
            binds: [Self.bind(numbers.lowerBound), Self.bind(numbers.upperBound)])
    }

    /// Returns the statement that changes a value of the journal about itself; it makes none.
    package func changeMeta(_ name: String, _ value: String) -> Statement {
        Statement(
            sql: "UPDATE \(metaSQL) SET value = ? WHERE name = ?", binds: [Self.bind(value), Self.bind(name)])
    }

    static func bind(_ text: String?) -> Bind {
        Bind(text.map { .text(ExactText($0)) } ?? .null, JournalColumn.text.type)
    }

    static func bind(_ bytes: [UInt8]?) -> Bind {
        Bind(bytes.map { .bytes($0) } ?? .null, JournalColumn.bytes.type)
    }

    static func bind(_ number: Int?) -> Bind {
        Bind(number.map { .integer(Int128($0)) } ?? .null, JournalColumn.number.type)
    }
}
