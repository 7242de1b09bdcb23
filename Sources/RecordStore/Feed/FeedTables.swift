package import MergeCore

/// The tables of the change feed.
///
/// A merge writes a row to `pending` in its own transaction. Sequencing gives committed rows their revisions and moves
/// them to `changes`, which has one row for each record. It locks the counter in `feed` until the commit, so that
/// revisions follow the order of commits.
package struct FeedTables: Sendable {
    /// The schema on the MariaDB server, or the name under which the SQLite file is attached.
    package let schema: String
    /// The dialect of the tables' database.
    package let dialect: any Dialect
    /// The highest revision that this process has reported.
    package let floor: RevisionFloor

    /// The number of revisions in an epoch, which is the higher part of a revision, so that no revision repeats.
    package static let epochSize = 1 << 40
    /// The first revision of an epoch, which no change has.
    package static let beginning = 1

    init(schema: String, dialect: any Dialect, floor: RevisionFloor) {
        self.schema = schema
        self.floor = floor
        self.dialect = dialect
    }

    /// The table of the counter.
    package var feed: TableName { TableName(schema: schema, name: "feed") }
    /// The table of committed changes without a revision.
    package var pending: TableName { TableName(schema: schema, name: "pending") }
    /// The table of each record's last change.
    package var changes: TableName { TableName(schema: schema, name: "changes") }
    /// The table of the revisions at which values of condition columns ended.
    package var departures: TableName { TableName(schema: schema, name: "departures") }
    /// The table of the revisions that each gateway has confirmed.
    package var gateways: TableName { TableName(schema: schema, name: "gateways") }

    private var metaSQL: String { dialect.quoted(TableName(schema: schema, name: "meta")) }
    var feedSQL: String { dialect.quoted(feed) }
    var pendingSQL: String { dialect.quoted(pending) }
    var changesSQL: String { dialect.quoted(changes) }
    var departuresSQL: String { dialect.quoted(departures) }
    var gatewaysSQL: String { dialect.quoted(gateways) }

    static let texts = StatementTexts()

    /// The statements that create the tables; existing tables stay unchanged.
    package var creation: [Statement] { dialect.creation(of: self) }

    // MARK: The feed

    /// Returns the statement that begins the first feed; an existing feed stays unchanged.
    package func begin(_ id: String) -> Statement {
        Statement(
            sql: "\(dialect.insertIfAbsent) INTO \(feedSQL) (one, id, epoch, last, oldest) VALUES (1, ?, 0, "
                + "\(Self.beginning), \(Self.beginning))",
            binds: [JournalTables.bind(id)])
    }

    /// Returns the statements that begin a new feed, with higher revisions than the last one.
    ///
    /// - Parameter epoch: an epoch that a gateway has reported; the new one is higher.
    package func beginAnew(_ id: String, above epoch: Int = 0) -> [Statement] {
        let next = "(CASE WHEN epoch < \(epoch) THEN \(epoch) ELSE epoch END + 1)"
        let first = "\(next) * \(Self.epochSize) + \(Self.beginning)"
        return [
            // MariaDB assigns from left to right, so the epoch comes last.
            Statement(
                sql:
                    "UPDATE \(feedSQL) SET id = ?, last = \(first), oldest = \(first), epoch = \(next) WHERE one = 1",
                binds: [JournalTables.bind(id)]),
            Statement(sql: "DELETE FROM \(changesSQL)", binds: []),
            Statement(sql: "DELETE FROM \(departuresSQL)", binds: []),
            // A write-ahead merge that is not committed yet gets its revision in the new feed.
            Statement(sql: "DELETE FROM \(pendingSQL) WHERE token IS NULL", binds: []),
        ]
    }

    /// The statement that extends the feed back to before the first row.
    package var reachBack: Statement {
        Statement(
            sql: "UPDATE \(feedSQL) SET oldest = 0 WHERE one = 1 AND epoch = 0 AND last = \(Self.beginning)", binds: [])
    }

    /// Returns the statement that reads the state of the feed for a gateway.
    ///
    /// - Parameter number: the row of `pending` after which the statement looks for another row.
    package func state(for gateway: String, pendingAfter number: Int) -> Statement {
        let isFree = "holder IS NULL OR holder = ? OR until IS NULL OR until < \(dialect.now)"
        // A lease that ends too late was acquired before the clock went back.
        let isAhead = "until > \(dialect.now(plusSeconds: 60))"
        return Statement(
            sql: "SELECT id, last, oldest, CASE WHEN \(isFree) OR \(isAhead) THEN 1 ELSE 0 END, "
                + "(SELECT n FROM \(pendingSQL) WHERE token IS NULL AND n > ? ORDER BY n LIMIT 1), "
                + "(SELECT value FROM \(metaSQL) WHERE name = '\(JournalTables.keysSince)') "
                + "FROM \(feedSQL) WHERE one = 1",
            binds: [JournalTables.bind(gateway), JournalTables.bind(number)],
            columns: [
                JournalColumn.text, JournalColumn.number, JournalColumn.number, JournalColumn.number,
                JournalColumn.number, JournalColumn.text,
            ])
    }

    /// The statement that reads the feed's id, its latest revision, and the lowest one from which changes are kept.
    package var reach: Statement {
        Statement(
            sql: "SELECT id, last, oldest FROM \(feedSQL) WHERE one = 1", binds: [],
            columns: [JournalColumn.text, JournalColumn.number, JournalColumn.number])
    }

    // MARK: Sequencing

    /// The statement that locks and reads the counter.
    package var lock: Statement {
        Statement(
            sql: "SELECT last FROM \(feedSQL) WHERE one = 1" + dialect.lockingClause, binds: [],
            columns: [JournalColumn.number])
    }

    /// Returns the statement that sets the counter.
    ///
    /// - Parameter holder: the gateway that renews its lease to sequence; nil leaves the lease unchanged.
    package func setLast(_ revision: Int, holder: String?) -> Statement {
        guard let holder else {
            return Statement(
                sql: "UPDATE \(feedSQL) SET last = ? WHERE one = 1", binds: [JournalTables.bind(revision)])
        }
        return Statement(
            sql: "UPDATE \(feedSQL) SET last = ?, holder = ?, until = \(dialect.now(plusSeconds: 2)) WHERE one = 1",
            binds: [JournalTables.bind(revision), JournalTables.bind(holder)])
    }

    /// Returns the statement that releases the lease to sequence.
    package func release(_ holder: String) -> Statement {
        Statement(
            sql: "UPDATE \(feedSQL) SET holder = NULL, until = NULL WHERE one = 1 AND holder = ?",
            binds: [JournalTables.bind(holder)])
    }

    /// Returns the statement that stores a run of changes until they have revisions.
    ///
    /// - Parameters:
    ///   - token: of a write-ahead transaction, whose changes get no revisions before its commit is certain; else nil.
    ///   - first: the number of the first entry; nil for that of the preceding INSERT.
    package func insert(_ run: PendingRun, token: String? = nil, first: Int? = nil) -> Statement {
        Statement(
            sql: "INSERT INTO \(pendingSQL) (first, step, token, records) VALUES ("
                + (first == nil ? "\(dialect.firstGenerated), \(dialect.generatedStep)" : "?, 1") + ", ?, ?)",
            binds: (first.map { [JournalTables.bind($0)] } ?? []) + [
                JournalTables.bind(token), JournalTables.bind(run.bytes),
            ])
    }

    /// Returns the statement that stores foreign changes until they have revisions.
    ///
    /// They have no journal entry, so the step between entry numbers is 0.
    package func insertForeign(_ names: [RecordName], tags: ConditionTags) -> Statement {
        let nobody = Sender(who: "", device: nil)
        let run = PendingRun(changes: names.map { PendingRun.Change(position: 0, name: $0, sender: nobody) })
        return Statement(
            sql: "INSERT INTO \(pendingSQL) (first, step, token, records, conditions) VALUES (0, 0, NULL, ?, ?)",
            binds: [JournalTables.bind(run.bytes), JournalTables.bind(tags.bytes)])
    }

    private static let pendingColumns = [
        JournalColumn.number, JournalColumn.number, JournalColumn.number, JournalColumn.bytes, JournalColumn.bytes,
    ]

    /// Returns the statement that reads committed runs in the order of their numbers.
    package func pending(after number: Int, limit: Int) -> Statement {
        Statement(
            sql:
                "SELECT n, first, step, records, conditions FROM \(pendingSQL) WHERE token IS NULL AND n > ? ORDER BY n LIMIT ?",
            binds: [JournalTables.bind(number), JournalTables.bind(limit)], columns: Self.pendingColumns)
    }

    /// Returns the statement that reads the runs of a write-ahead transaction.
    package func pending(of token: String) -> Statement {
        Statement(
            sql: "SELECT n, first, step, records, conditions FROM \(pendingSQL) WHERE token = ? ORDER BY n",
            binds: [JournalTables.bind(token)], columns: Self.pendingColumns)
    }

    /// Decodes a row of `pending` into its number and its changes.
    ///
    /// - Throws: `StoreError` if the row is damaged.
    package func pendingRun(_ row: [Value]) throws(StoreError) -> (number: Int, changes: [CommittedChange]) {
        guard row.count == 5, case .integer(let number) = row[0], case .integer(let first) = row[1],
            case .integer(let step) = row[2], case .bytes(let bytes) = row[3], let run = PendingRun(bytes: bytes)
        else {
            throw StoreError(.unreadable, "a row of the table “pending” of the journal “\(schema)” is damaged")
        }
        if step == 0 {
            var tags: [[ConditionTag]] = []
            if case .bytes(let bytes) = row[4] { tags = ConditionTags(bytes: bytes)?.tags ?? [] }
            let changes = run.changes.enumerated().map { position, change in
                CommittedChange(
                    name: change.name, push: nil,
                    steps: tags.indices.contains(position) ? ConditionStep.steps(through: tags[position]) : [])
            }
            return (Int(clamping: number), changes)
        }
        return (Int(clamping: number), run.numbered(from: Int(clamping: first), step: Int(clamping: step)))
    }

    private static let runs = [128, 32, 8, 1]

    /// Splits a list into runs of few different lengths, so that few texts are prepared.
    static func inRuns<Element, Answer>(
        _ all: [Element], _ make: (ArraySlice<Element>) -> Answer
    ) -> [Answer] {
        var answers: [Answer] = []
        var rest = all[...]
        while !rest.isEmpty {
            let run = rest.prefix(runs.first { $0 <= rest.count } ?? 1)
            answers.append(make(run))
            rest = rest.dropFirst(run.count)
        }
        return answers
    }

    /// Returns the statements that delete exactly these rows of `pending`; newer rows may be between them.
    package func deletePending(_ numbers: [Int]) -> [Statement] {
        Self.inRuns(numbers) { run in
            let marks = repeatElement("?", count: run.count).joined(separator: ", ")
            return Statement(
                sql: "DELETE FROM \(pendingSQL) WHERE n IN (\(marks))", binds: run.map { JournalTables.bind($0) })
        }
    }

    /// Returns the statement that deletes the runs of a write-ahead transaction.
    package func deletePending(of token: String) -> Statement {
        Statement(sql: "DELETE FROM \(pendingSQL) WHERE token = ?", binds: [JournalTables.bind(token)])
    }

    /// Returns the statements that store the last change of each record.
    ///
    /// - Parameter changes: with the condition histories; nil keeps the stored history.
    package func note(
        _ changes: [(change: CommittedChange, revision: Int, conditions: ConditionHistory?)]
    ) -> [Statement] {
        Self.inRuns(changes) { run in
            var binds: [Bind] = []
            binds.reserveCapacity(8 * run.count)
            for (change, revision, conditions) in run {
                binds.append(JournalTables.bind(change.name.resource))
                binds.append(JournalTables.bind(change.name.record))
                if let digest = dialect.digest(of: change.name) { binds.append(JournalTables.bind(digest)) }
                binds.append(JournalTables.bind(revision))
                binds.append(JournalTables.bind(change.push?.entry))
                binds.append(JournalTables.bind(change.push?.sender.who))
                binds.append(JournalTables.bind(change.push?.sender.device))
                binds.append(JournalTables.bind(conditions?.bytes))
            }
            return Statement(
                sql: Self.texts.text(.changes(schema: schema, dialect: dialect.name, rows: run.count)) {
                    dialect.upsert(changes: run.count, in: self)
                },
                binds: binds)
        }
    }
}
