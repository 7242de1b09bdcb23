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
    /// - Parameter after: the `next` of an earlier result with the same `sort`.
    /// - Throws: `InvalidQuery` with the path and the nearest name.
    public nonisolated func query(
        _ resource: String, where conditions: [QueryCondition] = [], search: String? = nil, sort: [String] = [],
        limit: Int? = nil, after: String? = nil
    ) async throws -> QueryResult {
        try await query(
            RecordQuery(resource, where: conditions, search: search, sort: sort, limit: limit, after: after))
    }

    /// Returns the records that match a query.
    public nonisolated func query(_ query: RecordQuery) async throws -> QueryResult {
        guard let run = try await run(query, wanted: query.limit.map { $0 + 1 }) else { return QueryResult() }
        return run.query.result(of: run.rows)
    }

    /// Returns how many records match.
    public nonisolated func count(
        _ resource: String, where conditions: [QueryCondition] = [], search: String? = nil
    ) async throws -> Int {
        try await run(RecordQuery(resource, where: conditions, search: search), wanted: nil)?.rows.count ?? 0
    }

    private nonisolated func run(_ query: RecordQuery, wanted: Int?) async throws -> QueryRun? {
        let begin = ContinuousClock.now
        let fetched = context.keeps(query.resource) ? nil : try await records(query.resource)
        let run = try await file.read { ledger -> QueryRun? in
            guard let compiled = try ledger.compile(query) else { return nil }
            guard let fetched else { return try ledger.run(compiled, wanted: wanted) }
            var run = QueryRun(compiled, wanted: wanted)
            for record in fetched { run.consider(record) }
            run.sort()
            return run
        }
        if context.isIndexBroken.withLock({ $0 }) { bells.ring(.indexes) }
        let milliseconds = Int((ContinuousClock.now - begin) / .milliseconds(1))
        if let run, milliseconds >= Self.slowMilliseconds {
            let slow = SlowQuery(query: query, milliseconds: milliseconds, read: run.read, index: run.index)
            slowQueries.withLock { $0 = $0.suffix(19) + [slow] }
        }
        return run
    }

    private static let slowMilliseconds = 100

    /// The result of a query now and whenever it changes.
    ///
    /// A slow reader gets the latest.
    /// `for await orders in try store.live("orders", where: [.equals("order.status", "open")]) { … }`. It ends when the store is
    /// closed, or when the reader goes away. A change is tested against the query; an edit never waits for this.
    /// - Throws: `InvalidQuery`.
    public nonisolated func live(
        _ resource: String, where conditions: [QueryCondition] = [], search: String? = nil, sort: [String] = [],
        limit: Int? = nil, after: String? = nil
    ) throws -> LiveQuery {
        try live(RecordQuery(resource, where: conditions, search: search, sort: sort, limit: limit, after: after))
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
        return LiveQuery(query: query, bells: bells, queries: liveQueries)
    }
}

extension CompiledQuery {
    /// Returns the result that consists of the first rows.
    func result(of rows: [QueryRow]) -> QueryResult {
        guard let limit = query.limit, rows.count > limit else { return QueryResult(rows.map(\.record)) }
        return QueryResult(rows.prefix(limit).map(\.record), next: next(after: rows[limit - 1].order))
    }
}
