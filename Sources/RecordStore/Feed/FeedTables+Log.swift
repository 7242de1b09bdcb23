package import MergeCore

/// The progress of reading the row log, in the settings of the journal.
extension FeedTables {
    private static let position = "log-position"
    private static let passes = "log-passes"
    private static let probe = "log-probe"
    /// The longest text that a setting contains.
    private static let longest = 255

    private var metaSQL: String { dialect.quoted(TableName(schema: schema, name: "meta")) }

    private func set(_ name: String, value: String) -> [Statement] {
        [
            Statement(
                sql: "\(dialect.insertIfAbsent) INTO \(metaSQL) (name, value) VALUES (?, '')",
                binds: [JournalTables.bind(name)]),
            Statement(
                sql: "UPDATE \(metaSQL) SET value = ? WHERE name = ?",
                binds: [JournalTables.bind(value), JournalTables.bind(name)]),
        ]
    }

    /// Returns the statements that store the progress.
    ///
    /// A position that is too long for a setting is stored as none. Then the next reader begins with a pass of everything.
    package func keep(_ progress: LogProgress) -> [Statement] {
        let text = progress.position.utf8.count <= Self.longest ? progress.position : ""
        return set(Self.position, value: text) + set(Self.passes, value: progress.needsPasses ? "all" : "")
    }

    /// The statement that reads the progress.
    package var logProgress: Statement {
        Statement(
            sql: "SELECT name, value FROM \(metaSQL) WHERE name IN ('\(Self.position)', '\(Self.passes)')", binds: [],
            columns: [JournalColumn.text, JournalColumn.text])
    }

    /// Decodes the rows of `logProgress`; nil if no position is stored.
    package func logProgress(_ rows: [[Value]]) -> LogProgress? {
        var values: [String: String] = [:]
        for row in rows {
            guard case .text(let name) = row[0], case .text(let value) = row[1] else { continue }
            values[name.string] = value.string
        }
        guard let position = values[Self.position], !position.isEmpty else { return nil }
        return LogProgress(position: position, needsPasses: values[Self.passes] != "")
    }

    /// Returns statements of which the last one changes a row, to test if the log contains the journal.
    package func logProbe(_ text: String) -> [Statement] { set(Self.probe, value: text) }

    /// The column of `pending` with the records of a run.
    package var pendingRecords: Column { Column(name: "records", type: JournalColumn.bytes.type, isNullable: false) }
}

/// The progress of reading the row log.
package struct LogProgress: Sendable, Hashable {
    /// The position up to which all changes are recorded.
    package let position: String
    /// True if a section needs a pass because of a transaction before the position.
    package let needsPasses: Bool

    /// Describes the progress.
    package init(position: String, needsPasses: Bool) {
        self.position = position
        self.needsPasses = needsPasses
    }
}
