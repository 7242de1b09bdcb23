import MergeCore

/// Statements that check if a push could be stored.
extension JournalTables {
    private static let probe = "probe"

    /// The statements that need the same tables and rights as a push but change no row.
    package var rightsProbes: [Statement] {
        // A single statement, because a distant database needs a round trip for each.
        let tables = [
            entries, meta, feed.pending, feed.feed, feed.changes, feed.departures, feed.gateways, feed.scan,
            feed.scanUnits, feed.scanRanges, feed.shown,
        ]
        let select = Statement(
            sql: "SELECT 1 FROM \(tables.map { dialect.quoted($0) }.joined(separator: ", ")) WHERE 1 = 0", binds: [],
            columns: [JournalColumn.number])
        let (entries, meta) = (dialect.quoted(entries), dialect.quoted(meta))
        let (pending, state) = (dialect.quoted(feed.pending), dialect.quoted(feed.feed))
        let writes = [
            "INSERT INTO \(entries) (at, who) SELECT \(now), value FROM \(meta) WHERE 1 = 0",
            "UPDATE \(entries) SET who = who WHERE 1 = 0", "DELETE FROM \(entries) WHERE 1 = 0",
            "INSERT INTO \(pending) (first, step, records) SELECT 0, 0, value FROM \(meta) WHERE 1 = 0",
            "DELETE FROM \(pending) WHERE 1 = 0", "UPDATE \(state) SET last = last WHERE 1 = 0",
            "UPDATE \(dialect.quoted(feed.changes)) SET revision = revision WHERE 1 = 0",
        ]
        return [select] + writes.map { Statement(sql: $0, binds: []) }
    }

    /// The statement that changes one row, in a transaction that is rolled back.
    package var writeProbe: Statement {
        Statement(sql: "UPDATE \(dialect.quoted(meta)) SET until = \(now) WHERE name = 'version'", binds: [])
    }

    /// The bytes that `spaceProbe` needs.
    ///
    /// The smallest push may need a new page of each index.
    private static let space = 65_536

    /// The statement that needs as much space as a push.
    ///
    /// MariaDB allocates the space at once, so the transaction can be rolled back. SQLite needs it at COMMIT.
    package var spaceProbe: Statement {
        guard dialect.isFile else {
            return Statement(
                sql:
                    "INSERT INTO \(dialect.quoted(entries)) (at, who, body) VALUES (\(now), '', REPEAT('x', \(Self.space)))",
                binds: [])
        }
        return Statement(
            sql: "INSERT OR REPLACE INTO \(dialect.quoted(meta)) (name, value) "
                + "VALUES ('\(Self.probe)', hex(zeroblob(\(Self.space / 2))))", binds: [])
    }

    /// The statement that removes the row of a committed `spaceProbe`.
    package var endSpaceProbe: Statement { removeMeta(Self.probe) }
}
