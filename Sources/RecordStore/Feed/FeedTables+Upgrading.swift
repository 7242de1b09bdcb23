import MergeCore

extension FeedTables {
    /// The statement that returns a row if a gateway has the lease of the scan now.
    package var lease: Statement {
        // A lease that ends too late was acquired before the clock went back.
        Statement(
            sql: "SELECT 1 FROM \(dialect.quoted(scan)) WHERE holder IS NOT NULL AND until > \(dialect.now) "
                + "AND until < \(dialect.now(plusSeconds: 3_600))",
            binds: [], columns: [JournalColumn.number])
    }

    /// The statement that counts the changes.
    package var changeCount: Statement {
        Statement(
            sql: "SELECT CAST(COUNT(*) AS \(dialect.wholeNumberType)) FROM \(changesSQL)", binds: [],
            columns: [JournalColumn.number])
    }
}
