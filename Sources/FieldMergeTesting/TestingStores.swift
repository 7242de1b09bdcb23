public import FieldMergeClient
public import Foundation

/// Opens a store (in memory, unless it has a place) that talks to a server of the test's own, by a clock that stands.
///
/// - Parameters:
///   - transport: a `ScriptedServer` or a `MemoryGateway`.
///   - url: the store's file; in memory where it is left out.
///   - resources: those that are kept; nil for all.
///   - indexes: paths of fields that are indexed, by resource.
///   - search: paths of fields that `search` reads, by resource.
///   - keep: the records that are kept, by resource; all of the others.
///   - token: asked for a token.
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
