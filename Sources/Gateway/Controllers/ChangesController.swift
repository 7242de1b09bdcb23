import ChangeFeed
import HTTPTypes
import Hummingbird
import Logging
import MergeCore
import MergeService
import MergeWire
import NIOCore
import Operations
import RecordStore

/// Serves the change feed, its event stream, and snapshots.
struct ChangesController {
    let service: MergeService
    let box: RulesBox
    let access: FeedAccess
    let metrics: GatewayMetrics
    let logger: Logger
    /// nil if the gateway needs no tokens.
    let tokens: (any TokenVerifier)?

    /// The maximum seconds that a request waits.
    private static let longestWait = 60

    func addRoutes(to routes: inout RouteTable) {
        routes.get("/v1/changes", query: ["since", "feed", "resources", "limit", "wait", "filter"], use: changes)
        routes.get("/v1/snapshot", query: ["resources", "after", "filter", "unless"], use: snapshot)
    }

    // MARK: Changes

    @Sendable private func changes(_ request: Request, in context: GatewayContext) async throws -> Response {
        var active = try box.ready()
        let client = context.access(to: active.catalog)
        let asked = try FeedRequest(context.query, under: active, for: client, service.limits)
        if let sender = try? context.sender {
            metrics.devices.note(sender)
            metrics.clients.note(sender, program: context.headers.text("x-client"), at: asked.position)
        }
        let access = access.seen(by: try ChosenFilter.access(of: client, by: asked.filter, under: active))
        if EventStream.isAccepted(context.headers) {
            if context.query["wait"] != nil {
                throw Problem(.invalid, about: .query, detail: "“wait” is not possible with events. Leave it out.")
            }
            return try await EventStream(
                box: box, access: access, asked: asked, limits: service.limits, requestID: context.received.id,
                logger: logger, standing: TokenStanding(context, tokens), bearer: context.bearer,
                lease: context.received.lease
            ).answer(lastEventID: context.headers["last-event-id"], isHead: request.method == .head)
        }
        let wait = min(try FeedRequest.number("wait", in: context.query) ?? 0, Self.longestWait)
        let (since, state) = try await access.position(since: asked.since, of: asked.feed)
        var page = try await self.page(since, asked, at: state, under: active, by: access, context.deadline)
        if page.changes.isEmpty, !page.hasMore, wait > 0, asked.since != nil, request.method != .head {
            (page, active) = try await news(
                after: page, asked, under: active, by: access, until: .now.advanced(by: .seconds(wait)), context)
        }
        let length = page.length
        try context.hold(length)
        return await context.working(on: length) { [page, active] in
            Reply.json(
                ChangesEncoder.encode(page.text(rules: active.catalog.version)), to: context.headers,
                with: [.cacheControl: "no-store"])
        }
    }

    private func page(
        _ since: Int, _ asked: FeedRequest, at state: FeedState, under active: ActiveRules, by access: FeedAccess,
        _ deadline: ContinuousClock.Instant
    ) async throws -> FeedPage {
        try await access.page(
            FeedQuestion(since: since, resources: asked.resources, limit: asked.limit), at: state, under: active,
            deadline)
    }

    /// Waits for changes, until the time is over or the client's token is no longer valid.
    ///
    /// - Returns: the page and its rules.
    private func news(
        after page: FeedPage, _ asked: FeedRequest, under active: ActiveRules, by access: FeedAccess,
        until end: ContinuousClock.Instant, _ context: GatewayContext
    ) async throws -> (FeedPage, ActiveRules) {
        var (page, active, access) = (page, active, access)
        let standing = TokenStanding(context, tokens)
        while page.changes.isEmpty, !page.hasMore, .now < end, !access.feed.isClosed, !context.received.caller.hasLeft {
            await access.wait(beyond: page.revision, of: page.feed, until: min(end, standing?.end ?? end))
            // Rights and rules may have changed during the wait.
            if let standing, await !standing.holds() { break }
            active = try box.ready()
            let client = context.access(to: active.catalog)
            access = access.seen(by: try ChosenFilter.access(of: client, by: asked.filter, under: active))
            let state = try await access.current()
            guard FeedAccess.isServed(since: page.revision, of: page.feed, by: state) else {
                throw FeedAccess.resync(state)
            }
            page = try await self.page(
                page.revision, asked, at: state, under: active, by: access, .now.advanced(by: .seconds(30)))
        }
        return (page, active)
    }

    // MARK: Snapshot

    @Sendable private func snapshot(_ request: Request, in context: GatewayContext) async throws -> Response {
        let active = try box.ready()
        let client = context.access(to: active.catalog)
        let known = try await access.current()
        let names = try FeedRequest.resources(in: context.query, of: active.catalog, for: client)
        let start = try cursor(in: context.query, of: names)
        let filter = try filter(in: context.query, from: start, under: active, for: client)
        let access = access.seen(by: try ChosenFilter.access(of: client, by: filter, under: active))
        var state = access.named(known)
        if let start { _ = try await access.position(since: start.revision, of: start.feed) }
        let former = try FormerFeed(context.query, from: start, at: state, under: active, for: client)
        if let former { state = former.begin(of: state) }
        let wanted = start?.resources ?? names ?? active.catalog.readable(by: client).map(\.name)
        let resources = wanted.compactMap { active.catalog.readable($0, by: client) }
        guard resources.count == wanted.count else { throw FeedAccess.resync(state) }
        for resource in resources { try active.requireInService(resource) }
        try await service.checkColumns(of: resources, deadline: context.deadline)
        let lines = SnapshotLines(
            service: service, active: active, state: state, resources: resources, viewer: access.access?.viewer,
            shown: access.shown, from: start, unless: former?.records)
        return try await SnapshotStream(
            lines: lines, box: box, logger: logger, standing: TokenStanding(context, tokens),
            isCurrent: { [box] in
                guard let now = box.active, now !== active else { return true }
                return now.catalog.version == active.catalog.version
                    && context.access(to: now.catalog)?.digest == client?.digest
            }
        ).answer(context, isHead: request.method == .head)
    }

    /// Returns the cursor from which an interrupted download continues, or nil.
    ///
    /// - Throws: a 400 `Problem` for a wrong cursor or other resources.
    private func cursor(in query: Query, of names: [String]?) throws(Problem) -> SnapshotCursor? {
        guard let text = try query.text("after") else { return nil }
        guard let cursor = SnapshotCursor(text: text) else {
            throw Problem(.invalid, about: .query, detail: "“after” is not a cursor of a snapshot.")
        }
        if let names, names != cursor.resources {
            throw Problem(.invalid, about: .query, detail: "“after” is the cursor of a snapshot of other resources.")
        }
        return cursor
    }

    /// Returns the filter of the query or, if the query has none, that of the snapshot that continues.
    private func filter(
        in query: Query, from start: SnapshotCursor?, under active: ActiveRules, for client: ClientAccess?
    ) throws(Problem) -> ChosenFilter? {
        if query["filter"] == nil, let text = start.flatMap({ FeedName(text: $0.feed) })?.filter {
            // A filter that is not possible any more makes the feed of the cursor another one.
            return (try? ChosenFilter(Array(text.utf8), under: active, for: client)) ?? nil
        }
        return try ChosenFilter(query, under: active, for: client)
    }
}
