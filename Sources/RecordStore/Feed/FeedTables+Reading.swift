package import MergeCore

extension FeedTables {
    /// Returns the statement that reads changes in the order of their revisions.
    ///
    /// - Parameters:
    ///   - since: the revision after which they begin.
    ///   - last: the revision up to which they are.
    ///   - resources: the resources whose records are told; nil for all.
    ///   - departing: the resources whose departures are told too, each where it was before the record's last change.
    package func changes(
        since: Int, upTo last: Int, resources: [String]?, departing: [String] = [], limit: Int
    ) -> Statement {
        let range = [JournalTables.bind(since), JournalTables.bind(last)]
        let columns = [
            JournalColumn.number, JournalColumn.text, JournalColumn.text, JournalColumn.number, JournalColumn.text,
            JournalColumn.text, JournalColumn.bytes, JournalColumn.number,
        ]
        let changes =
            "SELECT revision, resource, record, entry, who, device, conditions, 0 AS departure FROM \(changesSQL) "
            + "WHERE revision > ? AND revision <= ?\(Self.among(resources, "resource")) ORDER BY revision LIMIT ?"
        let binds = range + (resources ?? []).map { JournalTables.bind($0) } + [JournalTables.bind(limit)]
        if departing.isEmpty { return Statement(sql: changes, binds: binds, columns: columns) }
        let departures =
            "SELECT d.revision, c.resource, c.record, d.entry, d.who, d.device, c.conditions, 1 "
            + "FROM \(departuresSQL) AS d JOIN \(changesSQL) AS c ON \(dialect.isOfChange) "
            + "WHERE d.revision > ? AND d.revision <= ? AND c.revision > d.revision"
            + "\(Self.among(departing, "c.resource")) ORDER BY d.revision LIMIT ?"
        return Statement(
            sql: "SELECT * FROM (\(changes)) AS a UNION ALL SELECT * FROM (\(departures)) AS b "
                + "ORDER BY revision LIMIT ?",
            binds: binds + range + departing.map { JournalTables.bind($0) }
                + [JournalTables.bind(limit), JournalTables.bind(limit)],
            columns: columns)
    }

    private static func among(_ resources: [String]?, _ column: String) -> String {
        guard let resources else { return "" }
        return " AND \(column) IN (" + repeatElement("?", count: resources.count).joined(separator: ", ") + ")"
    }

    /// Returns the statement that counts the transactions whose changes have no revision yet.
    ///
    /// - Parameters:
    ///   - number: rows up to it are not looked for.
    ///   - most: the number at which counting ends.
    package func pendingCount(after number: Int, atMost most: Int) -> Statement {
        Statement(
            sql: "SELECT COUNT(*) FROM (SELECT n FROM \(pendingSQL) WHERE n > ? LIMIT ?) AS waiting",
            binds: [JournalTables.bind(number), JournalTables.bind(most)], columns: [JournalColumn.number])
    }

    /// Returns the statement that reads what is known of conditions of access in some records.
    package func conditions(of names: [RecordName]) -> Statement {
        Statement(
            sql: "SELECT resource, record, conditions FROM \(changesSQL) WHERE " + dialect.changesNamed(names.count),
            binds: names.flatMap { dialect.address(of: $0) },
            columns: [JournalColumn.text, JournalColumn.text, JournalColumn.bytes])
    }

    /// Reads a row of `conditions`; nil where nothing is known.
    package func conditions(_ row: [Value]) -> (name: RecordName, history: ConditionHistory)? {
        guard row.count == 3, case .text(let resource) = row[0], case .text(let record) = row[1],
            case .bytes(let bytes) = row[2], let history = ConditionHistory(bytes: bytes)
        else { return nil }
        return (RecordName(resource: resource.string, record: record.string), history)
    }

    /// Reads a row of `changes(since:upTo:resources:departing:limit:)`; nil where it is damaged.
    package func change(_ row: [Value]) -> SequencedChange? {
        guard row.count == 8, case .integer(let revision) = row[0], case .text(let resource) = row[1],
            case .text(let record) = row[2]
        else { return nil }
        var push: SequencedChange.Push?
        if case .integer(let entry) = row[3] {
            var who = ""
            if case .text(let text) = row[4] { who = text.string }
            var device: String?
            if case .text(let text) = row[5] { device = text.string }
            push = SequencedChange.Push(entry: Int(clamping: entry), sender: Sender(who: who, device: device))
        }
        var conditions: ConditionHistory?
        if case .bytes(let bytes) = row[6] { conditions = ConditionHistory(bytes: bytes) }
        return SequencedChange(
            revision: Int(clamping: revision), name: RecordName(resource: resource.string, record: record.string),
            push: push, conditions: conditions, isDeparture: row[7] == .integer(1))
    }

    // MARK: Gateways

    /// Returns the statements that note up to which revision a gateway serves: the commit of one's own behind which
    /// everything that was seen before is kept for sure.
    package func confirm(_ revision: Int, by gateway: String) -> [Statement] {
        [
            Statement(
                sql: "\(dialect.insertIfAbsent) INTO \(gatewaysSQL) (id, confirmed, at) VALUES (?, 0, \(dialect.now))",
                binds: [JournalTables.bind(gateway)]),
            Statement(
                sql: "UPDATE \(gatewaysSQL) SET confirmed = ?, at = \(dialect.now) WHERE id = ?",
                binds: [JournalTables.bind(revision), JournalTables.bind(gateway)]),
        ]
    }

    /// Returns the statement that forgets a gateway.
    package func forget(_ gateway: String) -> Statement {
        Statement(sql: "DELETE FROM \(gatewaysSQL) WHERE id = ?", binds: [JournalTables.bind(gateway)])
    }

    /// Returns the statement that forgets gateways that have not been heard of for days.
    package var forgetGone: Statement {
        Statement(sql: "DELETE FROM \(gatewaysSQL) WHERE at < \(dialect.now(minusDays: 2))", binds: [])
    }

    // MARK: Keeping it small

    /// Returns the statement that reads the oldest changes, each with whether it is past an age.
    package func aged(days: Int, limit: Int) -> Statement {
        Statement(
            sql: "SELECT revision, at < \(dialect.now(minusDays: days)) FROM \(changesSQL) ORDER BY revision LIMIT ?",
            binds: [JournalTables.bind(limit)], columns: [JournalColumn.number, JournalColumn.number])
    }

    /// Returns the statements that forget changes up to a revision; whoever has read less has to begin anew.
    package func forget(upTo revision: Int) -> [Statement] {
        [
            Statement(
                sql: "UPDATE \(feedSQL) SET oldest = ? WHERE one = 1 AND oldest < ?",
                binds: [JournalTables.bind(revision), JournalTables.bind(revision)]),
            Statement(sql: "DELETE FROM \(changesSQL) WHERE revision <= ?", binds: [JournalTables.bind(revision)]),
            Statement(sql: "DELETE FROM \(departuresSQL) WHERE revision <= ?", binds: [JournalTables.bind(revision)]),
        ]
    }
}
