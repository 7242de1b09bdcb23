package import MergeCore

/// The optional table of the devices that use the gateways.
extension JournalTables {
    /// The table of the devices.
    package var clients: TableName { TableName(schema: schema, name: "clients") }

    /// The statement that succeeds if the table exists.
    package var clientsProbe: Statement {
        Statement(
            sql: "SELECT 1 FROM \(dialect.quoted(clients)) WHERE 1 = 0", binds: [], columns: [JournalColumn.number])
    }

    /// The statement that creates the table unless it exists.
    package var clientsCreation: Statement { dialect.creation(ofClients: clients) }

    private static let erasures = "clients-erased"

    /// The statements that make the count of erasures exist, and read it; the second one waits for a running erasure.
    package var countErasures: [Statement] {
        [
            setMeta(Self.erasures, "0"),
            Statement(
                sql: "SELECT value FROM \(dialect.quoted(meta)) WHERE name = ?" + dialect.lockingClause,
                binds: [Self.bind(Self.erasures)], columns: [JournalColumn.text]),
        ]
    }

    /// Decodes the row of `countErasures`.
    package func erasures(_ row: [Value]?) -> Int {
        if case .text(let text)? = row?.first { Int(text.string) ?? 0 } else { 0 }
    }

    /// Returns the statement that stores the count of erasures.
    package func setErasures(_ count: Int) -> Statement { changeMeta(Self.erasures, String(count)) }

    /// Returns the statement that stores devices; unknown parts keep their stored values.
    package func store(_ rows: [ClientRow]) -> Statement {
        Statement(
            sql: dialect.upsert(clients: rows.count, in: clients),
            binds: rows.flatMap { row in
                [
                    Self.bind(row.who), Self.bind(row.device), Self.bind(row.program), Self.bind(row.feed),
                    Self.bind(row.revision),
                ]
            })
    }

    /// Returns the statement that reads devices in the order of senders and devices.
    ///
    /// - Parameter last: the device after which the page begins; nil for the first page.
    package func clients(after last: (who: String, device: String)?, limit: Int) -> Statement {
        var binds = [Self.bind(limit)]
        if let last { binds = [Self.bind(last.who), Self.bind(last.who), Self.bind(last.device)] + binds }
        return Statement(
            sql: "SELECT who, device, program, feed, revision, seen FROM \(dialect.quoted(clients))"
                + (last == nil ? "" : " WHERE who > ? OR (who = ? AND device > ?)") + " ORDER BY who, device LIMIT ?",
            binds: binds,
            columns: [
                JournalColumn.text, JournalColumn.text, JournalColumn.text, JournalColumn.text, JournalColumn.number,
                JournalColumn.time,
            ])
    }

    /// Decodes a row of `clients`.
    package func client(_ row: [Value]) -> ClientRow? {
        guard row.count == 6, case .text(let who) = row[0], case .text(let device) = row[1] else { return nil }
        func text(_ value: Value) -> String? { if case .text(let text) = value { text.string } else { nil } }
        var revision: Int?
        if case .integer(let number) = row[4] { revision = Int(clamping: number) }
        var seen: DateTime?
        if case .dateTime(let time) = row[5] { seen = time }
        return ClientRow(
            who: who.string, device: device.string, program: text(row[2]), feed: text(row[3]), revision: revision,
            seen: seen)
    }

    /// Returns the statement that counts the refused pushes after a number that wait for an operator, by device.
    package func refusals(after number: Int) -> Statement {
        Statement(
            sql: "SELECT who, COALESCE(device, ''), CAST(COUNT(*) AS \(dialect.wholeNumberType)) "
                + "FROM \(dialect.quoted(entries)) WHERE n > ? AND body IS NOT NULL AND \(isWhole) "
                + "AND \(replayed("n")) IS NULL GROUP BY who, COALESCE(device, '')",
            binds: [Self.bind(number)], columns: [JournalColumn.text, JournalColumn.text, JournalColumn.number])
    }

    /// Returns the statement that deletes the devices of a sender.
    package func forgetClients(of who: String) -> Statement {
        Statement(sql: "DELETE FROM \(dialect.quoted(clients)) WHERE who = ?", binds: [Self.bind(who)])
    }

    /// Returns the statement that deletes devices that were not seen for a number of days.
    package func forgetClients(days: Int) -> Statement {
        Statement(sql: "DELETE FROM \(dialect.quoted(clients)) WHERE seen < \(dialect.now(minusDays: days))", binds: [])
    }
}
