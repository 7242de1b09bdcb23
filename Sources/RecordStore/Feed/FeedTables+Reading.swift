package import MergeCore

extension FeedTables {
    /// Returns the statement that reads changes in the order of their revisions.
    ///
    /// - Parameters:
    ///   - since: the excluded first revision.
    ///   - resources: the resources to report; nil for all.
    package func changes(since: Int, upTo last: Int, resources: [String]?, limit: Int) -> Statement {
        Statement(
            sql: "SELECT revision, resource, record, entry, who, device, conditions FROM \(changesSQL) "
                + "WHERE revision > ? AND revision <= ?\(Self.among(resources, column: "resource")) ORDER BY revision LIMIT ?",
            binds: [JournalTables.bind(since), JournalTables.bind(last)]
                + (resources ?? []).map { JournalTables.bind($0) } + [JournalTables.bind(limit)],
            columns: Self.columnsOfChange)
    }

    /// Returns the statement that reads departures, in the order of revisions, of records that changed again later.
    ///
    /// - Parameter since: the excluded first revision.
    package func departures(since: Int, upTo last: Int, resources: [String], limit: Int) -> Statement {
        Statement(
            sql: "SELECT d.revision, c.resource, c.record, d.entry, d.who, d.device, c.conditions "
                + "FROM \(departuresSQL) AS d JOIN \(changesSQL) AS c ON \(dialect.isOfChange) "
                + "WHERE d.revision > ? AND d.revision <= ? AND c.revision > d.revision"
                + "\(Self.among(resources, column: "c.resource")) ORDER BY d.revision LIMIT ?",
            binds: [JournalTables.bind(since), JournalTables.bind(last)]
                + resources.map { JournalTables.bind($0) } + [JournalTables.bind(limit)],
            columns: Self.columnsOfChange)
    }

    private static let columnsOfChange = [
        JournalColumn.number, JournalColumn.text, JournalColumn.text, JournalColumn.number, JournalColumn.text,
        JournalColumn.text, JournalColumn.bytes,
    ]

    private static func among(_ resources: [String]?, column: String) -> String {
        guard let resources else { return "" }
        return " AND \(column) IN (" + repeatElement("?", count: resources.count).joined(separator: ", ") + ")"
    }

    /// Returns the statement that counts transactions without revisions, after a row and up to a limit.
    package func pendingCount(after number: Int, atMost most: Int) -> Statement {
        Statement(
            sql: "SELECT COUNT(*) FROM (SELECT n FROM \(pendingSQL) WHERE n > ? LIMIT ?) AS waiting",
            binds: [JournalTables.bind(number), JournalTables.bind(most)], columns: [JournalColumn.number])
    }

    /// Returns the statement that reads the condition histories of records.
    package func conditions(of names: [RecordName]) -> Statement {
        Statement(
            sql: "SELECT resource, record, conditions FROM \(changesSQL) WHERE " + dialect.changesNamed(names.count),
            binds: names.flatMap { dialect.address(of: $0) },
            columns: [JournalColumn.text, JournalColumn.text, JournalColumn.bytes])
    }

    /// Decodes a row of `conditions`; nil if it has no history.
    package func conditions(_ row: [Value]) -> (name: RecordName, history: ConditionHistory)? {
        guard row.count == 3, case .text(let resource) = row[0], case .text(let record) = row[1],
            case .bytes(let bytes) = row[2], let history = ConditionHistory(bytes: bytes)
        else { return nil }
        return (RecordName(resource: resource.string, record: record.string), history)
    }

    /// Decodes a row of `changes` or `departures`; nil if it is damaged.
    package func change(_ row: [Value], isDeparture: Bool = false) -> SequencedChange? {
        guard row.count == 7, case .integer(let revision) = row[0], case .text(let resource) = row[1],
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
            push: push, conditions: conditions, isDeparture: isDeparture)
    }

    // MARK: Gateways

    /// Returns the statements that store the revision up to which a gateway has reported changes.
    ///
    /// When this commit is durable, every commit that the gateway read before is durable too.
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

    /// Returns the statement that deletes a gateway.
    package func forget(_ gateway: String) -> Statement {
        Statement(sql: "DELETE FROM \(gatewaysSQL) WHERE id = ?", binds: [JournalTables.bind(gateway)])
    }

    /// The statement that deletes gateways without a sign of life for two days.
    package var forgetGone: Statement {
        Statement(sql: "DELETE FROM \(gatewaysSQL) WHERE at < \(dialect.now(minusDays: 2))", binds: [])
    }

    // MARK: Pruning

    /// Returns the statement that reads the oldest changes, each with a flag for those past an age.
    package func aged(days: Int, limit: Int) -> Statement {
        Statement(
            sql: "SELECT revision, at < \(dialect.now(minusDays: days)) FROM \(changesSQL) ORDER BY revision LIMIT ?",
            binds: [JournalTables.bind(limit)], columns: [JournalColumn.number, JournalColumn.number])
    }

    /// Returns the statements that delete changes up to a revision; a client that has read less needs a snapshot.
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
