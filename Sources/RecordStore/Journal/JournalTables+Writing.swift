package import MergeCore

extension JournalTables {
    /// Rows go out in runs of these lengths, so that few texts have to be prepared, and in what is left over from them.
    private static let runs = [128, 64, 32]

    /// One row of an INSERT.
    private struct Row {
        let draft: JournalDraft
        let entry: JournalEntry?
    }

    /// An INSERT and how many rows it makes.
    package struct Insert {
        /// The INSERT.
        package let statement: Statement
        /// The number of rows that it makes.
        package let rows: Int
        /// The records that its entries changed; nil where they changed none.
        package let changes: PendingRun?
    }

    /// The INSERTs that keep drafts: one for pushes of one record, however many; the further records of a push have
    /// fewer columns, and rows of their own.
    package func insert(_ drafts: [JournalDraft]) -> [Insert] {
        var first: [Row] = []
        var further: [Row] = []
        for whole in drafts where !whole.isEmpty {
            let draft = whole.packed
            meter.add(draft.byteCount, for: draft.sender.who)
            // A push that changed nothing leaves a row with its key alone.
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

    /// The columns that at least one of the rows fills: the others are NULL by themselves, and a value that is not sent
    /// costs neither side anything.
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
            binds.append(Self.bind(entry?.body))
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
                insertText(rows.count, names)
            },
            binds: binds)
    }

    private static let texts = StatementTexts()

    private func insertText(_ count: Int, _ columns: [String]) -> String {
        let marks = "(" + now + String(repeating: ", ?", count: columns.count) + ")"
        return "INSERT INTO \(dialect.quoted(entries)) (at, " + columns.joined(separator: ", ") + ") VALUES "
            + repeatElement(marks, count: count).joined(separator: ", ")
    }

    /// Notes that a push met an unexpected error for the first or second time.
    ///
    /// Each of the two is a row of its own, which the unique index of the names admits once. The row is pruned like any
    /// other that has only a name.
    package func noteUnexpected(_ number: Int, of name: [UInt8], sender: Sender) -> Statement {
        Statement(
            sql: "INSERT INTO \(dialect.quoted(entries)) (at, who, name) VALUES (\(now), ?, ?)",
            binds: [Self.bind(sender.who), Self.bind(name.map { $0 ^ UInt8(truncatingIfNeeded: number) })])
    }

    /// The answer that is kept under a name.
    ///
    /// - Parameter locking: waits for a transaction that is about to keep one, and so tells for sure.
    package func answer(_ name: [UInt8], locking: Bool) -> Statement {
        Statement(
            sql: "SELECT request, code, answer FROM \(dialect.quoted(entries)) WHERE name = ?"
                + (locking ? dialect.lockingClause : ""),
            binds: [Self.bind(name)], columns: [JournalColumn.bytes, JournalColumn.number, JournalColumn.bytes])
    }

    /// Reads a row of `answer`.
    package func keptAnswer(_ row: [Value]) -> KeptAnswer? {
        guard row.count == 3, case .bytes(let request) = row[0], case .integer(let code) = row[1],
            case .bytes(let body) = row[2]
        else { return nil }
        let (text, access) = KeptAnswer.split(PackedBytes.unpack(body))
        return KeptAnswer(
            request: request, status: PushStatus(storedCode: Int(clamping: code)),
            failure: FailureKind(storedCode: Int(clamping: code)), body: text, access: access)
    }

    // MARK: Keeping it small

    /// Takes the right to prune for some minutes, so that one gateway at a time does.
    ///
    /// A right that ends an hour and more later than it could, had it begun by now, was taken by a clock that has
    /// jumped back since.
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

    /// Returns the statement that gives the right to prune back, where it is the owner's.
    package func giveLeaseBack(_ owner: String) -> Statement {
        Statement(
            sql: "UPDATE \(dialect.quoted(meta)) SET value = '', until = NULL WHERE name = 'prune' AND value = ?",
            binds: [Self.bind(owner)])
    }

    /// The question for the database's own clock, in seconds since 1970, and the greatest number of an entry, 0 where
    /// there is none.
    package var clock: Statement {
        Statement(
            sql:
                "SELECT \(dialect.nowSeconds), (SELECT CAST(COALESCE(MAX(n), 0) AS SIGNED) FROM \(dialect.quoted(entries)))",
            binds: [],
            columns: [JournalColumn.number, JournalColumn.number])
    }

    /// Rows after a number, the oldest first, with whether each is past an age.
    ///
    /// Rows that a clock which has jumped back since wrote in what is the future now are left out, so that they hold
    /// up none of those that came after them.
    ///
    /// - Parameters:
    ///   - days: the age of the row; 0 and more.
    ///   - limit: how many rows at most.
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

    /// The code of an answer that says which edits of a refused push were merged all the same.
    static let partial = PushStatus.partial.storedCode

    /// Forgets keys and answers, and keeps what was merged, and what was not.
    package func forgetKeys(_ numbers: [Int]) -> Statement {
        let marks = repeatElement("?", count: numbers.count).joined(separator: ", ")
        // The code comes last: MariaDB assigns from left to right.
        return Statement(
            sql: "UPDATE \(dialect.quoted(entries)) SET name = NULL, request = NULL, "
                + "answer = CASE WHEN code = \(Self.partial) THEN answer END, "
                + "code = CASE WHEN code = \(Self.partial) THEN code END WHERE n IN (\(marks))",
            binds: numbers.map { Self.bind($0) })
    }

    /// Number of rows as the database estimates it, and the size in bytes.
    package var size: Statement { dialect.size(of: self) }

    /// The first and the last number; no row where the journal is empty.
    package var bounds: Statement {
        Statement(
            sql: "SELECT MIN(n), MAX(n) FROM \(dialect.quoted(entries))", binds: [],
            columns: [JournalColumn.number, JournalColumn.number])
    }

    /// Returns the statement that tells whether the next row from a number on is younger than a day.
    package func isOfLastDay(from number: Int) -> Statement {
        Statement(
            sql:
                "SELECT at >= \(dialect.now(minusDays: 1)) FROM \(dialect.quoted(entries)) WHERE n >= ? ORDER BY n LIMIT 1",
            binds: [Self.bind(number)], columns: [JournalColumn.number])
    }
}
