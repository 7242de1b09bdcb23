import ChangeFeed
import MergeCore
import MergeService
import MergeWire

/// The members of a request to the change feed.
struct FeedRequest: Sendable {
    /// The client's revision; nil to request only the latest revision.
    var since: Int?
    /// The feed of the revision.
    var feed: String?
    /// In the order of the rules; nil for all.
    var resources: [String]?
    var limit: Int
    /// nil for all records.
    var filter: ChosenFilter?

    /// The own name of the feed and the revision that the client has; nil if it names none.
    var position: (feed: String, revision: Int)? { Self.position(since, feed) }

    static func position(_ since: Int?, _ feed: String?) -> (feed: String, revision: Int)? {
        guard let since, let own = feed.map(FeedState.ownName), own.utf8.count <= 64,
            own.utf8.allSatisfy({ $0 > 32 && $0 < 127 })
        else { return nil }
        return (own, since)
    }

    /// Reads a decimal integer without a sign; nil if the member is missing.
    ///
    /// Numbers beyond an `Int` become the largest `Int`.
    static func number(_ name: String, in query: Query) throws(Problem) -> Int? {
        guard let text = try query.text(name) else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 48 && $0 <= 57 }) else {
            throw Problem(.invalid, about: .query, detail: "“\(name)” must be a decimal integer without a sign.")
        }
        return Int(text) ?? .max
    }

    /// Reads the requested resources.
    ///
    /// - Throws: a `Problem`: 404 for an unknown resource, 400 for an empty list.
    static func resources(
        in query: Query, of catalog: Catalog, for access: ClientAccess?
    ) throws(Problem) -> [String]? {
        guard let text = try query.text("resources") else { return nil }
        let names = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        return try known(names, in: catalog.readable(by: access)) { name in
            let shown = name.utf8.count > NameIndex.maximumBytes ? "What “resources” names" : "“\(name)”"
            return Problem(
                .unknownResource, about: .address,
                detail: shown + " is not a resource"
                    + NearestName.ending(for: name, among: catalog.readable(by: access).map(\.name)))
        }
    }

    /// Sorts resources in the order of the rules, without duplicates.
    ///
    /// - Throws: a 400 `Problem` for an empty list, or the result of `unknown`.
    static func known(
        _ names: [String], in readable: [Resource], unknown: (String) -> Problem
    ) throws(Problem) -> [String] {
        guard !names.isEmpty, names.count > 1 || !names[0].isEmpty else {
            throw Problem(.invalid, about: .query, detail: "“resources” must name at least one resource.")
        }
        var wanted: Set<ObjectIdentifier> = []
        for name in names {
            guard let resource = readable.first(where: { $0.name.isExactly(name) }) else { throw unknown(name) }
            wanted.insert(ObjectIdentifier(resource))
        }
        return readable.filter { wanted.contains(ObjectIdentifier($0)) }.map(\.name)
    }

    /// Reads the query of `GET /v1/changes`.
    init(
        _ query: Query, under active: ActiveRules, for access: ClientAccess?, _ limits: MergeLimits
    ) throws(Problem) {
        since = try Self.number("since", in: query)
        feed = try query.text("feed")
        resources = try Self.resources(in: query, of: active.catalog, for: access)
        limit = Self.limit(try Self.number("limit", in: query), limits)
        filter = try ChosenFilter(query, under: active, for: access)
        try checkFeed()
    }

    init(since: Int?, feed: String?, resources: [String]?, limit: Int, filter: ChosenFilter?) {
        self.filter = filter
        self.since = since
        self.feed = feed
        self.resources = resources
        self.limit = limit
    }

    static func limit(_ wanted: Int?, _ limits: MergeLimits) -> Int { min(max(wanted ?? 500, 1), limits.pageSize) }

    /// - Throws: a 400 `Problem` for a revision without its feed.
    func checkFeed() throws(Problem) {
        guard let since, since > 0, feed == nil else { return }
        throw Problem(
            .invalid, about: .query, detail: "“since” needs “feed”: the feed of the answer with this revision.")
    }
}
