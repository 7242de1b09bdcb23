package import MergeCore

extension JournalTables {
    private var fields: String {
        "n, at, who, device, push_key, resource, record, status, outcomes, rules, entry, address, body, reason, "
            + "CASE WHEN body IS NULL THEN NULL ELSE \(replayed("n")) END"
    }

    private var fieldColumns: [Column] {
        [JournalColumn.number, JournalColumn.time] + Array(repeating: JournalColumn.text, count: 8)
            + [
                JournalColumn.bytes, JournalColumn.text, JournalColumn.bytes, JournalColumn.text, JournalColumn.text,
            ]
    }

    /// Returns the statement that reads the entries of a filter, the oldest first.
    package func list(_ filter: JournalFilter) -> Statement {
        var conditions = [filter.onlyRefused ? "body IS NOT NULL" : "resource IS NOT NULL"]
        var binds: [Bind] = []
        func require(_ condition: String, _ bind: Bind?) {
            guard let bind else { return }
            conditions.append(condition)
            binds.append(bind)
        }
        // Names and keys are ASCII; in MariaDB a comparison with other characters is an error.
        if !(filter.resource ?? "").utf8.allSatisfy({ $0 < 128 }) { conditions.append("1 = 0") }
        let resource = filter.resource.map { Self.bind($0.filter(\.isASCII)) }
        if filter.onlyRefused, let resource, let record = filter.record {
            conditions.append(namesRecord)
            binds += [resource, Self.bind(record)]
        } else {
            require("resource = ?", resource)
            require("record = ?", filter.record.map { Self.bind($0) })
        }
        require("who = ?", filter.who.map { Self.bind($0) })
        require("device = ?", filter.device.map { Self.bind($0) })
        require("reason = ?", filter.code.map { Self.bind($0) })
        if let outcome = filter.outcome {
            require("outcomes LIKE ?", Self.bind("%," + outcome + ",%"))
        }
        if let since = filter.since {
            require("at >= ?", Self.bind(since.text(separator: " ", fraction: dialect.nowFraction)))
        }
        if let until = filter.until {
            require("at < ?", Self.bind(until.text(separator: " ", fraction: dialect.nowFraction)))
        }
        require(filter.isBackward ? "n < ?" : "n > ?", filter.after.map { Self.bind($0) })
        require("n >= ?", (filter.range?.lowerBound).map { Self.bind($0) })
        require("n <= ?", (filter.range?.upperBound).map { Self.bind($0) })
        if filter.onlyConflicts { conditions.append(mayHaveConflict) }
        if filter.onlyRefused, !filter.includesDropped { conditions.append(isNotDropped("n")) }
        binds.append(Self.bind(filter.limit))
        return Statement(
            sql: "SELECT \(fields) FROM \(dialect.quoted(entries)) WHERE \(conditions.joined(separator: " AND ")) "
                + "ORDER BY n\(filter.isBackward ? " DESC" : "") LIMIT ?",
            binds: binds, columns: fieldColumns)
    }

    /// The condition of a refused push that names a record: one of its entries is of this record.
    private var namesRecord: String {
        let own = dialect.quoted(entries)
        return "EXISTS (SELECT 1 FROM \(own) AS e WHERE e.resource = ? AND e.record = ? AND e.status <> 'merged' "
            + "AND (e.n = \(own).n OR e.who = \(own).who AND e.push_key = \(own).push_key))"
    }

    /// Returns the statement that reads one entry.
    package func entry(_ number: Int) -> Statement {
        Statement(
            sql: "SELECT \(fields) FROM \(dialect.quoted(entries)) WHERE n = ?", binds: [Self.bind(number)],
            columns: fieldColumns)
    }

    /// Returns the statement that reads the last merges of a record and their senders, the newest first.
    ///
    /// - Parameter before: the entry before which they begin; nil for the last of all.
    package func merges(of record: RecordName, before: Int?, limit: Int) -> Statement {
        Statement(
            sql: "SELECT n, at, who, device, entry FROM \(dialect.quoted(entries)) WHERE resource = ? AND record = ? "
                + "AND status = 'merged'\(before == nil ? "" : " AND n < ?") ORDER BY n DESC LIMIT ?",
            binds: [Self.bind(record.resource), Self.bind(record.record)] + (before.map { [Self.bind($0)] } ?? [])
                + [Self.bind(limit)],
            columns: [
                JournalColumn.number, JournalColumn.time, JournalColumn.text, JournalColumn.text, JournalColumn.bytes,
            ])
    }

    /// Decodes a row of `merges`.
    package func merge(_ row: [Value]) -> (author: Authorship.Author, entry: [UInt8])? {
        guard row.count == 5, case .integer(let number) = row[0], case .dateTime(let at) = row[1],
            case .bytes(let entry) = row[4]
        else { return nil }
        let who = row[2].text ?? ""
        return (
            Authorship.Author(who: who.isEmpty ? nil : who, device: row[3].text, at: at, entry: Int(clamping: number)),
            entry
        )
    }

    /// Decodes a row of `list` or `entry`.
    package func stored(_ row: [Value]) -> StoredEntry? {
        guard row.count == 15, case .integer(let number) = row[0], case .dateTime(let at) = row[1] else { return nil }
        var entry: JournalEntry?
        if let resource = row[5].text, let record = row[6].text, case .bytes(let body) = row[10] {
            entry = JournalEntry(
                resource: resource, record: record, status: row[7].text ?? "", outcomes: row[8].text ?? "",
                rules: row[9].text ?? "", body: PackedBytes.unpack(body), changed: [])
        }
        var bareEntry: [UInt8]?
        if entry == nil, case .bytes(let body) = row[10] { bareEntry = body }
        var refused: RefusedBody?
        if let address = row[11].text, case .bytes(let body) = row[12] {
            refused = RefusedBody(address: address, body: PackedBytes.unpack(body), reason: row[13].text ?? "")
        }
        return StoredEntry(
            number: Int(clamping: number), at: at, sender: Sender(who: row[2].text ?? "", device: row[3].text),
            key: row[4].text, entry: entry, bareEntry: bareEntry, refused: refused,
            settlement: row[14].text.map(Self.settlement))
    }
}

extension Value {
    fileprivate var text: String? {
        if case .text(let text) = self { text.string } else { nil }
    }
}
