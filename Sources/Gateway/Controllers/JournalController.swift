import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore

/// Serves the journal, undo, and the resend of refused pushes.
struct JournalController {
    let service: MergeService
    let box: RulesBox
    let limits: WireLimits
    let metrics: GatewayMetrics
    let share: JournalShare
    let delivery: ResultDelivery

    func addRoutes(to routes: inout RouteTable) {
        routes.get("/v1/journal", query: JournalQuery.members, need: .operate, use: list)
        routes.get("/v1/journal/:number", need: .operate, use: entry)
        routes.post("/v1/journal/:number/undo", query: ["preview"], need: .operate, use: undo)
        routes.post("/v1/journal/:number/resend", query: ["preview"], need: .operate, use: resend)
        routes.post("/v1/journal/:number/drop", need: .operate, use: drop)
    }

    @Sendable private func list(_ request: Request, in context: GatewayContext) async throws -> Response {
        for name in ["refused", "settled", "conflicts"] { _ = try context.query.flag(name) }
        let active = try box.ready()
        let filter = try JournalQuery(catalog: active.catalog).filter { name throws(Problem) in
            guard let raw = context.query[name] else { return nil }
            if raw.isEmpty { throw Self.invalid("“\(name)” is empty") }
            guard let text = KeyText.percentDecoded(raw.utf8.map { $0 == UInt8(ascii: "+") ? 32 : $0 }) else {
                throw Self.invalid("“\(name)” is not percent-encoded UTF-8")
            }
            return text
        }
        let page = try await JournalPages(service: service, active: active, deadline: context.deadline).page(filter)
        let access = context.access(to: active.catalog)
        let body = JournalEncoder.page(page.entries.map { $0.shown(to: access, of: active.catalog) }, next: page.next)
        try context.hold(body.count)
        return await context.working(on: body.count) { Reply.json(body, to: context.headers) }
    }

    @Sendable private func entry(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let active = try box.ready()
        let entry = try await service.entry(try number(request), active: active, deadline: context.deadline)
        let shown = entry.shown(to: context.access(to: active.catalog), of: active.catalog)
        return Reply.json(JournalEncoder.one(shown), to: context.headers)
    }

    @Sendable private func undo(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let isPreview = try context.query.flag("preview")
        let number = try number(request)
        let active = try box.ready()
        let sender = try context.sender
        if !isPreview { try share.check(sender.who, in: active.journal) }
        let body = try body(context)
        let wanted = try UndoRequest(body)
        let answer = try await actions(under: active, context).undo(
            number, wanted: wanted, sender: sender, request: context.received.id, isPreview: isPreview)
        return try await reply(
            answer, to: body, at: "/v1/journal/\(number)/undo", under: active, isPreview: isPreview, context)
    }

    @Sendable private func resend(_ request: Request, in context: GatewayContext) async throws -> Response {
        let isPreview = try context.query.flag("preview")
        let number = try number(request)
        let active = try box.ready()
        let sender = try context.sender
        if !isPreview { try share.check(sender.who, in: active.journal) }
        let wanted = try ResendRequest(try body(context), maximumDepth: limits.depth)
        let answer = try await actions(under: active, context).replay(
            number, correction: wanted.edited.map { JournalActions.Correction(body: $0, editor: sender) },
            request: context.received.id, isPreview: isPreview)
        return try await reply(
            answer, to: wanted.edited ?? [], at: "/v1/journal/\(number)/resend", under: active, isPreview: isPreview,
            context)
    }

    @Sendable private func drop(_ request: Request, in context: GatewayContext) async throws -> Response {
        let number = try number(request)
        let active = try box.ready()
        try EmptyRequest.check(try body(context))
        let entry = try await actions(under: active, context).drop(number, by: context.bearer?.name ?? "")
        let shown = entry.shown(to: context.access(to: active.catalog), of: active.catalog)
        return Reply.json(JournalEncoder.one(shown), to: context.headers, with: [.cacheControl: "no-store"])
    }

    private func actions(under active: ActiveRules, _ context: GatewayContext) -> JournalActions {
        JournalActions(
            service: service, active: active, limits: limits, access: context.access(to: active.catalog),
            claims: context.bearer?.claims ?? AccessClaims(), maintenance: box.maintenance,
            deadline: context.deadline)
    }

    /// Returns the body of an action; empty if there is none.
    private func body(_ context: GatewayContext) throws(Problem) -> [UInt8] {
        // Any web page can send a request without body and media type, but not with a token.
        guard context.bearer == nil || context.headers["content-type"] != nil || context.headers.announceBody else {
            return []
        }
        return try context.jsonBody(limit: limits.bodyBytes)
    }

    private func reply(
        _ answer: PushAnswer, to body: [UInt8], at address: String, under active: ActiveRules, isPreview: Bool,
        _ context: GatewayContext
    ) async throws -> Response {
        let access = context.access(to: active.catalog)
        if let result = answer.result, !isPreview {
            metrics.count(result)
            await delivery.note(result, under: active, for: access, context.deadline)
        }
        context.failure.note(answer)
        let told = try await ReplayedAnswer(
            service: service, active: active, access: access, deadline: context.deadline
        )
        .body(answer, to: body, at: address)
        if answer.isReplay { await delivery.note(answerAgain: told, under: active, for: access, context.deadline) }
        return Reply.json(
            told, to: context.headers, status: HTTPResponse.Status(code: answer.httpStatus),
            with: answer.isReplay ? PushController.replayed : [:])
    }

    private func number(_ request: Request) throws(Problem) -> Int {
        let text = String(request.rawPath(2) ?? "")
        guard let number = Int(text), number > 0 else {
            throw Problem(.noSuchEntry, detail: "The number of a journal entry must be a decimal integer.")
        }
        return number
    }

    private static func invalid(_ detail: String) -> Problem {
        Problem(.invalid, about: .query, detail: detail + ".")
    }
}

extension RequestHeaders {
    fileprivate var announceBody: Bool {
        self["transfer-encoding"] != nil || (self["content-length"].map { $0 != "0" } ?? false)
    }
}
