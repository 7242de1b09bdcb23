import MergeCore
import MergeService
import MergeWire
import Operations

/// The filter of a request, with the rules and rights under which it was read.
struct ChosenFilter: Sendable {
    private let read: ReadFilter
    private let rules: String
    private let rights: [UInt8]?

    /// Reads a filter in JSON.
    ///
    /// - Returns: nil if it has no condition.
    /// - Throws: a 400 `Problem` with a path for unknown names and values.
    init?(_ text: [UInt8], under active: ActiveRules, for client: ClientAccess?) throws(Problem) {
        let decoder = FilterDecoder(catalog: active.catalog, viewer: client?.viewer)
        guard let read = try decoder.decode(text) else { return nil }
        self.read = read
        rules = active.catalog.version
        rights = client?.digest
    }

    /// Reads the member `filter` of a query; nil if it is missing or has no condition.
    init?(_ query: Query, under active: ActiveRules, for client: ClientAccess?) throws(Problem) {
        guard let text = try query.formText("filter") else { return nil }
        try self.init(Array(text.utf8), under: active, for: client)
    }

    /// The filter.
    var records: RecordFilter { read.filter }

    /// Returns a client's rights, limited to a filter.
    ///
    /// The filter is read again if the rules or the client's rights have changed.
    ///
    /// - Throws: a 400 `Problem` if the filter is not possible any more.
    static func access(
        of client: ClientAccess?, by filter: ChosenFilter?, under active: ActiveRules
    ) throws(Problem) -> ClientAccess? {
        guard var filter else { return client }
        if filter.rules != active.catalog.version || filter.rights != client?.digest {
            guard let again = try ChosenFilter(Array(filter.read.text.utf8), under: active, for: client) else {
                return client
            }
            filter = again
        }
        return .filtered(client, by: filter.read)
    }
}
