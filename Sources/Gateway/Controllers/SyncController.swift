import ChangeFeed
import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore

/// Runs pushes in order, then returns changes.
struct SyncController {
    let service: MergeService
    let box: RulesBox
    let access: FeedAccess
    let limits: WireLimits
    let metrics: GatewayMetrics
    let share: JournalShare
    let rates: ClientRates
    let delivery: ResultDelivery
    let gate: LargeGate
    let invalid: InvalidPushes

    func addRoutes(to routes: inout RouteTable) {
        routes.post("/v1/sync", query: ["by"], use: sync)
    }

    @Sendable private func sync(_ request: Request, in context: GatewayContext) async throws -> Response {
        let active = try box.ready()
        let tellsAuthors = try context.query.flag("by")
        // Checked even without pushes.
        metrics.devices.note(try context.sender)
        let body = try context.jsonBody(limit: limits.bodyBytes)
        try await gate.enter(body.count, until: context.deadline)
        defer { gate.leave(body.count) }
        let asked = try body.withUnsafeBytes { bytes throws(Problem) in
            try SyncDecoder(limits: limits).decode(bytes)
        }
        metrics.clients.note(
            try context.sender, program: context.headers.text("x-client"),
            at: FeedRequest.position(asked.since, asked.feed))
        let client = context.access(to: active.catalog)
        let wanted = try Self.wanted(asked, under: active, for: client, service.limits)
        var pushes = SyncPushes(
            runner: PushRunner(
                service: service, maintenance: box.maintenance, active: active, metrics: metrics, rates: rates,
                delivery: delivery), box: box,
            feed: asked.feed, limits: limits, share: share, invalid: invalid, tellsAuthors: tellsAuthors)
        for push in asked.pushes { await pushes.run(push, context) }
        return try await answer(pushes, wanted: wanted, under: active, in: context)
    }

    private static func wanted(
        _ asked: SyncRequest, under active: ActiveRules, for access: ClientAccess?, _ limits: MergeLimits
    ) throws(Problem) -> FeedRequest {
        let names = try asked.resources.map { names throws(Problem) in
            try FeedRequest.known(names, in: active.catalog.readable(by: access)) { name in
                guard active.catalog[name] == nil else {
                    return Problem(
                        .noRight, detail: "The rules do not allow this client to read the resource “\(name)”.",
                        path: WirePath("resources"))
                }
                let shown = name.utf8.count > NameIndex.maximumBytes ? "A name" : "“\(name)”"
                return Problem(
                    .unknownResource,
                    detail: shown + " is not a resource"
                        + NearestName.ending(for: name, among: active.catalog.readable(by: access).map(\.name)),
                    path: WirePath("resources"))
            }
        }
        let filter = try asked.filter.flatMap { text throws(Problem) in
            try ChosenFilter(text, under: active, for: access)
        }
        let request = FeedRequest(
            since: asked.since, feed: asked.feed, resources: names, limit: FeedRequest.limit(asked.limit, limits),
            filter: filter)
        try request.checkFeed()
        return request
    }

    private func answer(
        _ pushes: SyncPushes, wanted: FeedRequest, under active: ActiveRules, in context: GatewayContext
    ) async throws -> Response {
        let client = context.access(to: active.catalog)
        let access = access.seen(by: try ChosenFilter.access(of: client, by: wanted.filter, under: active))
        var state: FeedState?
        let bytes: [UInt8]
        var isWhole = pushes.allMerged
        do {
            let news = try await SyncNews(feed: access.feed).news()
            state = news.state.map { access.named($0) }
            guard var known = state else { throw FeedAccess.noFeed }
            var page = FeedPage(feed: known.feed, revision: known.revision, hasMore: false, changes: [])
            if let since = wanted.since {
                if !FeedAccess.isServed(since: since, of: wanted.feed, by: known) {
                    // The client may have read a later revision from another gateway or a later page.
                    known = try await access.position(since: since, of: wanted.feed).state
                }
                // If a table was altered, the client syncs again: its rights belong to the rules of this request.
                page = try await access.page(
                    FeedQuestion(since: since, resources: wanted.resources, limit: wanted.limit), at: known,
                    under: active, context.deadline)
                if !news.isCaughtUp { page = page.withMore }
            }
            try context.hold(page.length)
            let text = page.text(rules: active.catalog.version)
            bytes = await context.working(on: page.length) { pushes.text.encode(text) }
        } catch {
            // The results of the pushes are valid nevertheless.
            isWhole = false
            let failure = Failure(any: error)
            if let cause = failure.cause { box.note(cause, of: context) }
            let problem = failure.problem
            context.failure.note(problem)
            bytes = pushes.text.encode(
                problem, feed: state.map { ($0.feed, $0.revision) }, rules: active.catalog.version)
        }
        return await context.working(on: bytes.count) {
            Reply.json(
                bytes, to: context.headers, status: isWhole ? .ok : HTTPResponse.Status(code: 207),
                with: [.cacheControl: "no-store"])
        }
    }
}
