import Synchronization

/// A query that took long, without its values.
struct SlowQuery: Sendable {
    let query: RecordQuery
    let milliseconds: Int
    let read: Int
    let index: String?

    var json: JSONValue {
        [
            "resource": .string(query.resource), "where": .array(query.conditions.map { .string($0.path) }),
            "sort": .array(query.sort.map(JSONValue.string)), "search": .bool(query.search != nil),
            "milliseconds": .integer(Int128(milliseconds)), "read": .integer(Int128(read)),
            "index": index.map(JSONValue.string) ?? .null,
        ]
    }
}

extension FieldMergeStore {
    /// Returns the records that match, with the edits that were not sent yet.
    ///
    /// `try await store.query("orders", where: [.oneOf("order.status", ["open"])], sort: ["order.due"], limit: 50)`. Without
    /// an index of a field in `where`, `sort` or `search` it reads all records of the resource. Before the first sync the
    /// result is empty.
    ///
    /// `after` is the `next` of an earlier result with the same `sort`. `follow` contains paths of references by name, such as
    /// `["customer": "order.customer"]`: `followed` of the result then has the referred records of each record.
    /// - Throws: `InvalidQuery` with the path and the nearest name.
    public nonisolated func query(
        _ resource: String, where conditions: [QueryCondition] = [], search: String? = nil, sort: [String] = [],
        limit: Int? = nil, after: String? = nil, follow: [String: String] = [:]
    ) async throws -> QueryResult {
        try await query(
            RecordQuery(
                resource, where: conditions, search: search, sort: sort, limit: limit, after: after, follow: follow))
    }

    /// Returns the records that match a query.
    public nonisolated func query(_ query: RecordQuery) async throws -> QueryResult {
        try await run(query, wanted: query.limit.map { $0 + 1 }) { ledger, run in
            try ledger.result(run.query, of: run.rows).value
        } ?? QueryResult()
    }

    /// Returns how many records match.
    public nonisolated func count(
        _ resource: String, where conditions: [QueryCondition] = [], search: String? = nil
    ) async throws -> Int {
        try await run(RecordQuery(resource, where: conditions, search: search), wanted: nil) { $1.rows.count } ?? 0
    }

    /// Runs a query; returns nil before the first sync.
    ///
    /// - Parameter use: returns a value of the rows, in the transaction that read them.
    private nonisolated func run<Value: Sendable>(
        _ query: RecordQuery, wanted: Int?, use: @escaping @Sendable (Ledger, QueryRun) throws -> Value
    ) async throws -> Value? {
        let begin = ContinuousClock.now
        let fetched = context.keeps(query.resource) ? nil : try await records(query.resource)
        let found = try await file.read { ledger -> (value: Value, read: Int, index: String?)? in
            guard let compiled = try ledger.compile(query) else { return nil }
            guard let fetched else {
                let run = try ledger.run(compiled, wanted: wanted)
                return (try use(ledger, run), run.read, run.index)
            }
            var run = QueryRun(compiled, wanted: wanted)
            for record in fetched { run.consider(record) }
            run.sort()
            return (try use(ledger, run), run.read, nil)
        }
        if context.isIndexBroken.withLock({ $0 }) { bells.ring(.indexes) }
        let milliseconds = Int((ContinuousClock.now - begin) / .milliseconds(1))
        if let found, milliseconds >= Self.slowMilliseconds {
            let slow = SlowQuery(query: query, milliseconds: milliseconds, read: found.read, index: found.index)
            slowQueries.withLock { $0 = $0.suffix(19) + [slow] }
        }
        return found?.value
    }

    private static let slowMilliseconds = 100

    /// The result of a query now and whenever it changes.
    ///
    /// A slow reader gets the latest value.
    /// `for await orders in try store.live("orders", where: [.equals("order.status", "open")]) { … }`. It ends when the store is
    /// closed, or when the reader ends. A change is tested against the query; an edit never waits for this.
    /// - Throws: `InvalidQuery`.
    public nonisolated func live(
        _ resource: String, where conditions: [QueryCondition] = [], search: String? = nil, sort: [String] = [],
        limit: Int? = nil, after: String? = nil, follow: [String: String] = [:]
    ) throws -> LiveQuery {
        try live(
            RecordQuery(
                resource, where: conditions, search: search, sort: sort, limit: limit, after: after, follow: follow))
    }

    /// The result of a query now and whenever it changes.
    public nonisolated func live(_ query: RecordQuery) throws -> LiveQuery {
        guard context.keeps(query.resource) else {
            throw InvalidQuery("invalid-query", path: query.resource, "name it in “resources” at “open”")
        }
        do {
            _ = try file.readNow { try $0.compile(query) }
        } catch FieldMergeError.storeClosed {
            // A closed store has no values.
        }
        // The query may refer to any resource.
        let topic = query.follow.isEmpty ? Bells.Topic.resource(query.resource) : .records
        return LiveQuery(query: query, topic: topic, bells: bells, queries: liveQueries)
    }
}

extension CompiledQuery {
    /// Returns the result that consists of the first rows.
    func result(of rows: [QueryRow]) -> QueryResult {
        guard let limit = query.limit, rows.count > limit else { return QueryResult(rows.map(\.record)) }
        return QueryResult(rows.prefix(limit).map(\.record), next: next(after: rows[limit - 1].order))
    }
}
