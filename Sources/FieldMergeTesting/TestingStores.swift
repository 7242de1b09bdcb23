public import FieldMergeClient
public import Foundation

/// Opens a store that sends its requests to a server of the test.
///
/// - Parameters:
///   - transport: a `ScriptedServer` or a `MemoryGateway`.
///   - url: the store's file; nil for a store in memory.
///   - clock: the time, which only the test advances if it is a `ManualClock`.
///   - user: the user of the store.
///   - resources: the stored resources; nil for all.
///   - indexes: paths of fields that are indexed, by resource.
///   - search: paths of fields that `search` reads, by resource.
///   - keep: conditions of the stored records, by resource. Resources without conditions are stored whole.
///   - snapshot: a file to begin with, NDJSON or SQLite.
///   - seed: makes waits the same in each run.
///   - token: returns a token.
public func memoryStore(
    _ transport: any Transport, at url: URL? = nil, clock: any StoreClock = ManualClock(), user: String = "test",
    resources: [String]? = nil, indexes: [String: [String]]? = nil, search: [String: [String]]? = nil,
    keep: [String: [QueryCondition]] = [:], snapshot: URL? = nil, seed: UInt64 = 0,
    token: @escaping @Sendable () async throws -> String = { "test" }
) async throws -> FieldMergeStore {
    guard let server = URL(string: "http://server.test") else { throw URLError(.badURL) }
    let options = FieldMergeStore.Options(
        server: server, user: user, client: nil, token: token, transport: transport, seed: seed)
    let declared = QueryIndexes(fields: indexes, search: search)
    return try await FieldMergeStore.open(
        at: url ?? URL(fileURLWithPath: ":memory:"),
        LedgerContext(
            resources: resources, subset: try SubsetFilter(keep: keep), indexes: declared, clock: clock), options,
        snapshot: snapshot, isSafe: false)
}
