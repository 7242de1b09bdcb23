package import MergeCore

/// Statements that erase a sender, or the former values of a record, from the feed's tables.
extension FeedTables {
    /// The statements that count the rows of a sender.
    package func count(of who: String) -> [Statement] {
        [changesSQL, departuresSQL].map { table in
            Statement(
                sql: "SELECT CAST(COUNT(*) AS \(dialect.wholeNumberType)) FROM \(table) WHERE who = ?",
                binds: [JournalTables.bind(who)], columns: [JournalColumn.number])
        }
    }

    /// The statements that replace a sender by another name, without a device.
    package func rename(_ who: String, to name: String) -> [Statement] {
        [changesSQL, departuresSQL].map { table in
            Statement(
                sql: "UPDATE \(table) SET who = ?, device = NULL WHERE who = ?",
                binds: [JournalTables.bind(name), JournalTables.bind(who)])
        }
    }

    /// The statement that reads the runs without revisions.
    package var pendingRuns: Statement {
        Statement(
            sql: "SELECT n, records FROM \(pendingSQL) ORDER BY n", binds: [],
            columns: [JournalColumn.number, JournalColumn.bytes])
    }

    /// Returns the statement that replaces a sender in a row of `pendingRuns`; nil if the row does not name it.
    package func renamed(_ row: [Value], _ who: String, to name: String) -> Statement? {
        guard row.count == 2, case .integer(let number) = row[0], case .bytes(let bytes) = row[1],
            let run = PendingRun(bytes: bytes), run.changes.contains(where: { $0.sender.who == who })
        else { return nil }
        let changes = run.changes.map { change in
            PendingRun.Change(
                position: change.position, name: change.name,
                sender: change.sender.who == who ? Sender(who: name, device: nil) : change.sender, step: change.step)
        }
        return Statement(
            sql: "UPDATE \(pendingSQL) SET records = ? WHERE n = ?",
            binds: [JournalTables.bind(PendingRun(changes: changes).bytes), JournalTables.bind(Int(clamping: number))])
    }

    /// Returns the statement that reads records with condition histories after a revision.
    package func histories(after revision: Int, limit: Int) -> Statement {
        Statement(
            sql: "SELECT resource, record, conditions, revision FROM \(changesSQL) "
                + "WHERE conditions IS NOT NULL AND revision > ? ORDER BY revision LIMIT ?",
            binds: [JournalTables.bind(revision), JournalTables.bind(limit)],
            columns: [JournalColumn.text, JournalColumn.text, JournalColumn.bytes, JournalColumn.number])
    }

    /// Returns the statement that replaces the condition history of a record.
    package func set(_ history: ConditionHistory, of name: RecordName) -> Statement {
        Statement(
            sql: "UPDATE \(changesSQL) SET conditions = ? WHERE \(dialect.changesNamed(1))",
            binds: [JournalTables.bind(history.bytes)] + dialect.address(of: name))
    }
}
