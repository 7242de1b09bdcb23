package import MergeCore

/// The tables of FieldMerge's journal, outside the application's schema.
///
/// Each row describes one edited record. The first row of a push contains its key and answer. So one INSERT with
/// several rows stores the whole push.
package struct JournalTables: Sendable {
    /// The schema on the MariaDB server, or the name under which the SQLite file is attached.
    package let schema: String
    /// The dialect of the tables' database.
    package let dialect: any Dialect
    /// Counts the bytes written to these tables.
    package let meter = JournalMeter()
    private let floor = RevisionFloor()

    /// The name under which a SQLite journal is attached to the database connection.
    package static let attachedName = "fieldmerge_journal"

    /// The version of the row format; it increases with every change that an older gateway cannot read.
    ///
    /// - 2: long bodies, answers and entries are packed; rows of version 1 are still read.
    /// - 3: each merge writes a row for the feed.
    /// - 4: feed rows contain condition values, and row digests show the known foreign changes.
    /// - 5: departures are stored when a record moves on.
    package static let version = 5

    /// Names the tables in a schema.
    package init(schema: String, dialect: any Dialect) {
        self.schema = schema
        self.dialect = dialect
    }

    /// The table of the entries.
    package var entries: TableName { TableName(schema: schema, name: "entries") }
    /// The table of the journal's own settings.
    package var meta: TableName { TableName(schema: schema, name: "meta") }
    private var entriesSQL: String { dialect.quoted(entries) }
    private var metaSQL: String { dialect.quoted(meta) }

    /// The time of a statement by the database's clock, in UTC.
    package var now: String { dialect.now }

    /// The tables of the feed in the same schema.
    package var feed: FeedTables { FeedTables(schema: schema, dialect: dialect, floor: floor) }

    /// The statements that create the tables; existing tables stay unchanged.
    package var creation: [Statement] { dialect.creation(of: self) + feed.creation + [clientsCreation] }

    // MARK: Settings

    /// Returns the statement that reads a setting.
    package func meta(_ name: String) -> Statement {
        Statement(
            sql: "SELECT value FROM \(metaSQL) WHERE name = ?", binds: [Self.bind(name)], columns: [JournalColumn.text])
    }

    /// Returns the statement that sets a setting unless it exists.
    package func setMeta(_ name: String, _ value: String) -> Statement {
        Statement(
            sql: "\(dialect.insertIfAbsent) INTO \(metaSQL) (name, value) VALUES (?, ?)",
            binds: [Self.bind(name), Self.bind(value)])
    }

    /// Returns the statement that removes a setting.
    package func removeMeta(_ name: String) -> Statement {
        Statement(sql: "DELETE FROM \(metaSQL) WHERE name = ?", binds: [Self.bind(name)])
    }

    /// The name of the setting with the time since which the journal has all keys, in microseconds since 1970.
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

    // MARK: The write-ahead journal

    private static let pendingPrefix = "pending:"

    /// Returns the statement that marks journal rows of an in-doubt transaction.
    package func setPending(_ token: String, _ numbers: ClosedRange<Int>) -> Statement {
        setMeta(Self.pendingPrefix + token, "\(numbers.lowerBound)-\(numbers.upperBound)")
    }

    /// Returns the statement that removes the mark of `setPending`.
    package func settled(_ token: String) -> Statement { removeMeta(Self.pendingPrefix + token) }

    /// The statement that reads all marks of `setPending`.
    package var allPending: Statement {
        Statement(
            sql: "SELECT name, value FROM \(metaSQL) WHERE name LIKE '\(Self.pendingPrefix)%' ORDER BY value",
            binds: [],
            columns: [JournalColumn.text, JournalColumn.text])
    }

    /// Decodes a row of `allPending`.
    package func pending(_ row: [Value]) -> (token: String, numbers: ClosedRange<Int>)? {
        guard row.count == 2, case .text(let name) = row[0], case .text(let value) = row[1] else { return nil }
        let parts = value.string.split(separator: "-").compactMap { Int($0) }
        guard parts.count == 2, parts[0] <= parts[1] else { return nil }
        return (String(name.string.dropFirst(Self.pendingPrefix.count)), parts[0]...parts[1])
    }

    /// Returns the statement that reads the merged entries of a range of numbers.
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

    /// Returns the statement that changes an existing setting.
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
