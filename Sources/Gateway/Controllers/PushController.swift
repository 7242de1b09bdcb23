import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore

/// Serves single edits and pushes.
final class PushController: Sendable {
    let service: MergeService
    let box: RulesBox
    let limits: WireLimits
    let metrics: GatewayMetrics
    let share: JournalShare
    let rates: ClientRates
    let delivery: ResultDelivery
    let gate: LargeGate
    let invalid: InvalidPushes

    init(
        service: MergeService, box: RulesBox, limits: WireLimits, metrics: GatewayMetrics, share: JournalShare,
        rates: ClientRates, delivery: ResultDelivery, gate: LargeGate, invalid: InvalidPushes
    ) {
        self.invalid = invalid
        self.service = service
        self.box = box
        self.limits = limits
        self.metrics = metrics
        self.share = share
        self.rates = rates
        self.delivery = delivery
        self.gate = gate
    }

    func addRoutes(to routes: inout RouteTable) {
        routes.post("/v1/merge/:resource", query: ["preview", "by"], use: { try await self.merge($0, $1) })
        routes.post("/v1/push", query: ["preview", "by"], use: { try await self.push($0, $1) })
    }

    private func merge(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let active = try box.ready()
        let resource = try active.resource(at: request, for: context.access(to: active.catalog))
        return try await answer(context, under: active, form: .merge, address: "/v1/merge/" + resource.name) {
            bytes, key, sender throws(Problem) in
            try decoder(context, under: active).merge(
                bytes, resource: resource, headerKey: key, sender: sender)
        }
    }

    private func push(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let active = try box.ready()
        return try await answer(context, under: active, form: .push, address: "/v1/push") {
            bytes, key, sender throws(Problem) in
            try decoder(context, under: active).push(bytes, headerKey: key, sender: sender)
        }
    }

    /// Returns a decoder that stops at the deadline of the request.
    private func decoder(_ context: GatewayContext, under active: ActiveRules) -> PushDecoder {
        let deadline = context.deadline
        return PushDecoder(catalog: active.catalog, limits: limits) { () throws(Problem) in
            guard deadline > .now else { throw StoreError(.busy, "its time was over before its body was read").problem }
        }
    }

    private func answer(
        _ context: GatewayContext, under active: ActiveRules, form: AnswerForm, address: String,
        decode: (UnsafeRawBufferPointer, String?, String) throws(Problem) -> DecodedPush
    ) async throws -> Response {
        let isPreview = try context.query.flag("preview")
        let tellsAuthors = try context.query.flag("by")
        let sender = try context.sender
        metrics.clients.note(sender, program: context.headers.text("x-client"))
        if !isPreview { try share.check(sender.who, in: active.journal) }
        let body = try context.jsonBody(limit: limits.bodyBytes)
        try await gate.enter(body.count, until: context.deadline)
        defer { gate.leave(body.count) }
        let headerKey = try context.idempotencyKey
        let sent = SentRequest(address: address, body: body, id: context.received.id)
        let runner = PushRunner(
            service: service, maintenance: box.maintenance, active: active, metrics: metrics, rates: rates,
            delivery: delivery)
        let (answer, told): (PushAnswer, body: [UInt8])
        do {
            let decoded = try body.withUnsafeBytes { bytes throws(Problem) in
                try decode(bytes, headerKey, context.keyOwner)
            }
            let run = PushRun(
                decoded, of: sender, form: form, sent: sent, isPreview: isPreview, tellsAuthors: tellsAuthors)
            (answer, told) = try await runner.answer(run, context)
        } catch {
            if !isPreview { await invalid.note(error, of: sent, by: sender, in: active.journal) }
            throw error
        }
        context.failure.note(answer)
        guard context.isLarge(told.count) else { return reply(answer, body: told, to: context) }
        return await context.working(on: told.count) { reply(answer, body: told, to: context) }
    }

    private func reply(_ answer: PushAnswer, body: [UInt8], to context: GatewayContext) -> Response {
        Reply.json(
            body, to: context.headers, status: HTTPResponse.Status(code: answer.httpStatus),
            with: answer.isReplay ? Self.replayed : [:])
    }

    /// The header of a stored answer.
    static let replayed: HTTPFields = {
        var fields = HTTPFields()
        if let name = HTTPField.Name("Idempotent-Replayed") { fields[name] = "true" }
        return fields
    }()
}

extension GatewayContext {
    fileprivate var idempotencyKey: String? {
        get throws(Problem) { try utf8Header("idempotency-key") }
    }

    /// Returns a header that may contain any text.
    ///
    /// - Throws: a 400 `Problem` if it is not UTF-8, because different values would decode to the same text.
    private func utf8Header(_ name: String) throws(Problem) -> String? {
        guard let text = headers.text(name) else { return nil }
        // Bytes that are not UTF-8 were decoded to this character.
        guard !text.unicodeScalars.contains("\u{FFFD}") else {
            throw Problem(
                .notUTF8,
                detail: "The header \(name) must be UTF-8 without the replacement character U+FFFD.")
        }
        return text
    }

    var keyOwner: String { bearer?.owner ?? "" }

    /// The sender of the request, with its device if it is named.
    var sender: Sender {
        get throws(Problem) {
            let device = try utf8Header("x-device-id")
            guard (device?.unicodeScalars.count ?? 0) <= 255 else {
                throw Problem(
                    .invalid, about: .deviceName, detail: "The header X-Device-ID may have 255 characters at most.")
            }
            return Sender(who: bearer?.name ?? "", device: device)
        }
    }
}
