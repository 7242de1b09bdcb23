package import MergeCore

extension JournalTables {
    /// The preferred numbers of rows in an INSERT, so that few texts are prepared.
    private static let runs = [128, 64, 32]

    private struct Row {
        let draft: JournalDraft
        let entry: JournalEntry?
    }

    /// An INSERT and its number of rows.
    package struct Insert {
        /// The INSERT.
        package let statement: Statement
        /// The number of rows.
        package let rows: Int
        /// The records that its entries changed; nil if they changed none.
        package let changes: PendingRun?
    }

    /// Returns the INSERTs that store drafts: first rows of all pushes, then further rows, which have fewer columns.
    package func insert(_ drafts: [JournalDraft]) -> [Insert] {
        var first: [Row] = []
        var further: [Row] = []
        for whole in drafts where !whole.isEmpty {
            let draft = whole.packed
            meter.add(draft.byteCount, for: draft.sender.who)
            // A push without changes has one row with its key only.
            first.append(Row(draft: draft, entry: draft.entries.first))
            for entry in draft.entries.dropFirst() { further.append(Row(draft: draft, entry: entry)) }
        }
        return inserts(first, isFirst: true) + inserts(further, isFirst: false)
    }

    private func inserts(_ rows: [Row], isFirst: Bool) -> [Insert] {
        var inserts: [Insert] = []
        var rest = rows[...]
        while !rest.isEmpty {
            let run = rest.prefix(Self.runs.first { $0 <= rest.count } ?? rest.count)
            inserts.append(
                Insert(
                    statement: insert(run, columns(of: run, isFirst: isFirst)), rows: run.count,
                    changes: changes(of: run)))
            rest = rest.dropFirst(run.count)
        }
        return inserts
    }

    private func changes(of rows: ArraySlice<Row>) -> PendingRun? {
        var run = PendingRun(changes: [])
        for (position, row) in rows.enumerated() {
            for name in row.entry?.changed ?? [] {
                run.changes.append(
                    PendingRun.Change(
                        position: position, name: name, sender: row.draft.sender, step: row.entry?.steps[name]))
            }
        }
        return run.changes.isEmpty ? nil : run
    }

    /// Returns the columns that at least one row fills; other columns become NULL without being sent.
    private func columns(of rows: ArraySlice<Row>, isFirst: Bool) -> JournalColumns {
        var columns: JournalColumns = isFirst ? .answer : []
        if rows.contains(where: { $0.draft.sender.device != nil }) { columns.insert(.device) }
        if isFirst, rows.contains(where: { $0.draft.refused != nil }) { columns.insert(.refused) }
        return columns
    }

    private func insert(_ rows: ArraySlice<Row>, _ columns: JournalColumns) -> Statement {
        let names = columns.names
        var binds: [Bind] = []
        binds.reserveCapacity(rows.count * names.count)
        for row in rows {
            let (draft, entry) = (row.draft, row.entry)
            binds.append(Self.bind(draft.sender.who))
            binds.append(Self.bind(draft.key))
            binds.append(Self.bind(entry?.resource))
            binds.append(Self.bind(entry?.record))
            binds.append(Self.bind(entry?.status))
            binds.append(Self.bind(entry?.outcomes))
            binds.append(Self.bind(entry?.rules))
            binds.append(Self.bind(entry?.body ?? draft.bareEntry))
            if columns.contains(.device) { binds.append(Self.bind(draft.sender.device)) }
            if columns.contains(.answer) {
                binds.append(Self.bind(draft.name))
                binds.append(Self.bind(draft.answer?.request))
                binds.append(Self.bind(draft.answer?.storedCode))
                binds.append(Self.bind(draft.answer?.body))
            }
            if columns.contains(.refused) {
                binds.append(Self.bind(draft.refused?.address))
                binds.append(Self.bind(draft.refused?.body))
                binds.append(Self.bind(draft.refused?.reason))
            }
        }
        return Statement(
            sql: Self.texts.text(.insert(schema: schema, dialect: dialect.name, rows: rows.count, columns: columns)) {
                insertText(rows.count, columns: names)
            },
            binds: binds)
    }

    private static let texts = StatementTexts()

    private func insertText(_ count: Int, columns: [String]) -> String {
        let marks = "(" + now + String(repeating: ", ?", count: columns.count) + ")"
        return "INSERT INTO \(dialect.quoted(entries)) (at, " + columns.joined(separator: ", ") + ") VALUES "
            + repeatElement(marks, count: count).joined(separator: ", ")
    }

    /// Returns the statement that records the first or second unexpected error of a push.
    ///
    /// The unique index of names admits each row once. It is pruned like other rows that have only a name.
    package func noteUnexpected(_ number: Int, of name: [UInt8], sender: Sender) -> Statement {
        Statement(
            sql: "INSERT INTO \(dialect.quoted(entries)) (at, who, name) VALUES (\(now), ?, ?)",
            binds: [Self.bind(sender.who), Self.bind(name.map { $0 ^ UInt8(truncatingIfNeeded: number) })])
    }

    /// Returns the statement that reads the answer stored under a name.
    ///
    /// - Parameter locking: waits for a transaction that is storing an answer.
    package func answer(_ name: [UInt8], locking: Bool) -> Statement {
        Statement(
            sql: "SELECT request, code, answer FROM \(dialect.quoted(entries)) WHERE name = ?"
                + (locking ? dialect.lockingClause : ""),
            binds: [Self.bind(name)], columns: [JournalColumn.bytes, JournalColumn.number, JournalColumn.bytes])
    }

    /// Decodes a row of `answer`.
    package func keptAnswer(_ row: [Value]) -> KeptAnswer? {
        guard row.count == 3, case .bytes(let request) = row[0], case .integer(let code) = row[1],
            case .bytes(let body) = row[2]
        else { return nil }
        let (text, access) = KeptAnswer.split(PackedBytes.unpack(body))
        return KeptAnswer(
            request: request, status: PushStatus(storedCode: Int(clamping: code)),
            failure: FailureKind(storedCode: Int(clamping: code)), body: text, access: access)
    }

    // MARK: Pruning

    /// Returns the statements that acquire the lease to prune, which one gateway has at a time.
    ///
    /// A lease that ends more than an hour too late was acquired before the clock went back.
    package func takeLease(_ owner: String, seconds: Int) -> [Statement] {
        let end = dialect.now(plusSeconds: seconds)
        let latest = dialect.now(plusSeconds: seconds + 3_600)
        return [
            setMeta("prune", ""),
            Statement(
                sql: "UPDATE \(dialect.quoted(meta)) SET value = ?, until = \(end) WHERE name = 'prune' "
                    + "AND (value = ? OR until IS NULL OR until NOT BETWEEN \(now) AND \(latest))",
                binds: [Self.bind(owner), Self.bind(owner)]),
        ]
    }

    /// Returns the statement that releases the owner's lease to prune.
    package func giveLeaseBack(_ owner: String) -> Statement {
        Statement(
            sql: "UPDATE \(dialect.quoted(meta)) SET value = '', until = NULL WHERE name = 'prune' AND value = ?",
            binds: [Self.bind(owner)])
    }

    /// The statement that reads the time in seconds since 1970 and the highest number of an entry, or 0.
    package var clock: Statement {
        Statement(
            sql:
                "SELECT \(dialect.nowSeconds), (SELECT CAST(COALESCE(MAX(n), 0) AS SIGNED) FROM \(dialect.quoted(entries)))",
            binds: [],
            columns: [JournalColumn.number, JournalColumn.number])
    }

    /// Returns the statement that reads the oldest rows after a number, each with a flag for those past an age.
    ///
    /// It leaves out rows from before the clock went back, whose time is in the future. So they delay no later rows.
    package func aged(after number: Int, days: Int, limit: Int) -> Statement {
        Statement(
            sql: "SELECT n, at < \(dialect.now(minusDays: days)), name IS NOT NULL, resource IS NULL AND body IS NULL "
                + "FROM \(dialect.quoted(entries)) WHERE n > ? AND at <= \(now) ORDER BY n LIMIT ?",
            binds: [Self.bind(number), Self.bind(limit)],
            columns: Array(repeating: JournalColumn.number, count: 4))
    }

    /// Returns the statement that deletes the entries of these numbers.
    package func delete(_ numbers: [Int]) -> Statement {
        let marks = repeatElement("?", count: numbers.count).joined(separator: ", ")
        return Statement(
            sql: "DELETE FROM \(dialect.quoted(entries)) WHERE n IN (\(marks))", binds: numbers.map { Self.bind($0) })
    }

    /// The code of an answer that names the merged edits of a refused push.
    static let partial = PushStatus.partial.storedCode

    /// Returns the statement that deletes keys and answers, except answers that name the merged edits of a refused
    /// push.
    package func forgetKeys(_ numbers: [Int]) -> Statement {
        let marks = repeatElement("?", count: numbers.count).joined(separator: ", ")
        // The code comes last: MariaDB assigns from left to right.
        return Statement(
            sql: "UPDATE \(dialect.quoted(entries)) SET name = NULL, request = NULL, "
                + "answer = CASE WHEN code = \(Self.partial) THEN answer END, "
                + "code = CASE WHEN code = \(Self.partial) THEN code END WHERE n IN (\(marks))",
            binds: numbers.map { Self.bind($0) })
    }

    /// The statement that reads the estimated number of rows and the size in bytes.
    package var size: Statement { dialect.size(of: self) }

    /// The statement that reads the time of the oldest row and the current time, both in UTC.
    package var oldest: Statement {
        Statement(
            sql: "SELECT at, \(now) FROM \(dialect.quoted(entries)) ORDER BY n LIMIT 1", binds: [],
            columns: [JournalColumn.time, JournalColumn.time])
    }

    /// Returns the statement that counts the whole refused pushes after a number that were not resent.
    package func refused(after number: Int) -> Statement {
        Statement(
            sql: "SELECT CAST(COUNT(*) AS \(dialect.wholeNumberType)) FROM \(dialect.quoted(entries)) "
                + "WHERE n > ? AND body IS NOT NULL AND \(isWhole) AND \(replayed("n")) IS NULL",
            binds: [Self.bind(number)], columns: [JournalColumn.number])
    }

    /// The condition of a body that is a push, not the line of an invalid or an erased one.
    var isWhole: String {
        // The engines do not agree on LIKE for bytes.
        ["{\"invalid\":", "{\"erased\":"].map { start in
            let bytes = Array(start.utf8)
            return "HEX(SUBSTR(body, 1, \(bytes.count))) <> '\(Hex.encode(bytes).uppercased())'"
        }.joined(separator: " AND ")
    }

    /// The statement that reads the first and last number; NULL if the journal is empty.
    package var bounds: Statement {
        Statement(
            sql: "SELECT MIN(n), MAX(n) FROM \(dialect.quoted(entries))", binds: [],
            columns: [JournalColumn.number, JournalColumn.number])
    }

    /// Returns the statement that checks if the first row from a number on is younger than a day.
    package func isOfLastDay(from number: Int) -> Statement {
        Statement(
            sql:
                "SELECT at >= \(dialect.now(minusDays: 1)) FROM \(dialect.quoted(entries)) WHERE n >= ? ORDER BY n LIMIT 1",
            binds: [Self.bind(number)], columns: [JournalColumn.number])
    }
}
