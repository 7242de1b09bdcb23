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

/// Sends changes for as long as a connection lasts.
///
/// Each event waits until the client has read the previous event. The connection of a client that stops reading is
/// closed after a timeout. The client continues after the last event that it received.
struct EventStream: Sendable {
    let box: RulesBox
    let access: FeedAccess
    let asked: FeedRequest
    let limits: MergeLimits
    let requestID: String
    let logger: Logger
    /// nil if the gateway needs no tokens.
    let standing: TokenStanding?
    /// nil if the gateway needs no tokens.
    let bearer: Bearer?
    /// The memory of the current event.
    let lease: ByteLease?

    /// The time without an event after which a comment is sent.
    private static let heartbeat = Duration.seconds(10)
    /// The delay after a database error.
    private static let pause = Duration.seconds(1)
    private static let patience = Duration.seconds(30)

    static func isAccepted(_ headers: RequestHeaders) -> Bool {
        guard let accepted = headers["accept"] else { return false }
        return accepted.split(separator: ",").contains { entry in
            entry.split(separator: ";").first?.trimmingSpaces.lowercased() == "text/event-stream"
        }
    }

    private struct Position {
        var feed: String
        var revision: Int
        /// The revision of the last event.
        var told: Int?
    }

    /// - Parameter lastEventID: the id of the last received event, which overrides the query.
    func answer(lastEventID: String?, isHead: Bool) async throws -> Response {
        var headers: HTTPFields = [.contentType: "text/event-stream", .cacheControl: "no-store"]
        // Proxies must not buffer events.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        let state = try await access.current()
        if isHead {
            return Response(status: .ok, headers: headers, body: ResponseBody { try await $0.finish(nil) })
        }
        var since = asked.since
        var feed = asked.feed
        if let lastEventID {
            let position = EventText.position(lastEventID)
            since = position?.revision ?? .max
            feed = position?.feed ?? ""
        }
        var start: Position?
        var resync: Problem?
        do {
            let found = try await access.position(since: since, of: feed)
            start = Position(
                feed: found.state.feed, revision: found.since, told: since == nil ? nil : found.since)
        } catch let problem as Problem where problem.code == .resync {
            resync = problem
        }
        let first = start ?? Position(feed: state.feed, revision: state.revision)
        return Response(
            status: .ok, headers: headers,
            body: ResponseBody { [resync] writer in
                if let resync {
                    try await Self.send(event(resync), to: &writer)
                } else {
                    try await run(from: first, &writer)
                }
                try await writer.finish(nil)
            })
    }

    /// Reports that the token is no longer valid.
    private static let end = EventText.event("end", Array("{}".utf8))

    private func event(_ problem: Problem) -> ByteBuffer {
        EventText.event("resync", ProblemEncoder.encode(problem, under: ProblemHead(problem), request: requestID))
    }

    /// Sends an event at once.
    ///
    /// The empty piece flushes it, because a writer delays the last piece.
    private static func send(_ event: ByteBuffer, to writer: inout any ResponseBodyWriter) async throws {
        try await writer.write(event)
        try await writer.write(ByteBuffer())
    }

    private func run(from start: Position, _ writer: inout any ResponseBodyWriter) async throws {
        var position = start
        var lastSent = ContinuousClock.now
        if position.told == nil {
            try await tell(nil, at: &position, by: &writer)
        } else {
            // Sends the head, so that the client detects the connection.
            try await Self.send(EventText.heartbeat, to: &writer)
        }
        while !access.feed.isClosed {
            let news = await news(position)
            // Rights may have changed during the read.
            if let standing, await !standing.holds() { return try await Self.send(Self.end, to: &writer) }
            switch news {
            case .resync(let problem): return try await Self.send(event(problem), to: &writer)
            case .page(let page):
                position.revision = page.revision
                if page.changes.isEmpty { break }
                try await tell(page, at: &position, by: &writer)
                lastSent = .now
                continue
            case .nothing: break
            case .trouble: try? await Task.sleep(for: Self.pause)
            }
            let end = lastSent.advanced(by: Self.heartbeat)
            if .now >= end {
                if position.told == position.revision {
                    try await Self.send(EventText.heartbeat, to: &writer)
                } else {
                    try await tell(nil, at: &position, by: &writer)
                }
                lastSent = .now
                continue
            }
            await access.wait(
                beyond: position.revision, of: position.feed, until: min(end, standing?.end ?? end))
        }
    }

    private enum News {
        case page(FeedPage)
        case nothing
        case resync(Problem)
        /// The database does not answer.
        case trouble
    }

    private func news(_ position: Position) async -> News {
        do {
            // Thousands of streams wait here, so little state may exist across a suspension.
            var known = access.feed.fresh
            if known == nil { known = try await access.feed.current() }
            switch try look(position, at: known) {
            case .news(let news): return news
            case .reading(let reading):
                let page: FeedPage
                switch try await reading.answer() {
                case .page(let read): page = read
                case .resync(let now): return .resync(FeedAccess.resync(access.named(now)))
                }
                // The memory is used up. A later attempt may succeed.
                guard lease?.take(page.length) ?? true else { return .trouble }
                return .page(page)
            }
        } catch {
            if (error as? StoreError)?.kind == .schemaChanged { box.askForReload() }
            logger.debug("events id=\(requestID) wait: \(error)")
            return .trouble
        }
    }

    private enum Look {
        case news(News)
        case reading(FeedReader.Reading)
    }

    /// - Parameter known: nil if the journal is off.
    private func look(_ position: Position, at known: FeedState?) throws -> Look {
        guard let known else { throw FeedAccess.noFeed }
        let active = try box.ready()
        // Other rules may change the client's rights, which changes the name of its feed.
        let client = active.catalog.hasAccessRules ? bearer?.access(to: active.catalog) : nil
        let rights = client ?? (active.catalog.hasAccessRules ? access.access : nil)
        let filtered: ClientAccess?
        do {
            filtered = try ChosenFilter.access(of: rights, by: asked.filter, under: active)
        } catch {
            // The client's next request reports the fault of its filter.
            return .news(.resync(FeedAccess.resync(access.seen(by: rights).named(known))))
        }
        let access = access.seen(by: filtered)
        let state = access.named(known)
        guard FeedAccess.isServed(since: position.revision, of: position.feed, by: state) else {
            // Another gateway may be ahead.
            guard position.feed == state.feed, position.revision > state.revision else {
                return .news(.resync(FeedAccess.resync(state)))
            }
            return .news(.nothing)
        }
        if state.revision == position.revision { return .news(.nothing) }
        return .reading(
            access.reader.begin(
                FeedQuestion(since: position.revision, resources: asked.resources, limit: asked.limit), at: state,
                under: active, for: access.access, .now.advanced(by: Self.patience)))
    }

    /// Sends an event.
    ///
    /// - Parameter page: nil to report only the position.
    private func tell(
        _ page: FeedPage?, at position: inout Position, by writer: inout any ResponseBodyWriter
    ) async throws {
        let rules = box.active?.catalog.version ?? ""
        let text =
            page?.text(rules: rules, saysMore: false)
            ?? ChangesText(
                feed: position.feed, revision: position.revision, hasMore: nil, rules: rules, changes: [])
        try await Self.send(
            EventText.changes(ChangesEncoder.encode(text), feed: position.feed, revision: position.revision),
            to: &writer)
        position.told = position.revision
        lease?.settle(at: 0)
    }
}
