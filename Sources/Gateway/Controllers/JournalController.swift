import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
package import MergeWire
package import RecordStore

/// What was merged, what was overwritten, and taking it back.
struct JournalController {
    let service: MergeService
    let box: RulesBox
    let limits: WireLimits
    let metrics: GatewayMetrics

    func addRoutes(to router: Router<GatewayContext>) {
        router.get("/v1/journal", use: list)
        router.get("/v1/journal/:number", use: entry)
        router.post("/v1/journal/:number/undo", use: undo)
    }

    @Sendable private func list(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let served = try box.ready()
        let filter = try JournalQuery(catalog: served.catalog).filter { name throws(Problem) in
            guard let raw = request.query(name), !raw.isEmpty else { return nil }
            guard let text = KeyText.percentDecoded(raw.utf8.map { $0 == UInt8(ascii: "+") ? 32 : $0 }) else {
                throw Self.invalid("“\(name)” is not percent-encoded UTF-8")
            }
            return text
        }
        var wanted = filter
        wanted.limit += 1
        let found = try await service.entries(wanted, served: served, deadline: context.deadline)
        let shown = found.prefix(filter.limit)
        let next = found.count > filter.limit ? shown.last?.number : nil
        return Reply.json(JournalEncoder.page(shown.map(\.shown), next: next), to: request)
    }

    @Sendable private func entry(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let entry = try await service.entry(
            try number(request), served: box.ready(), deadline: context.deadline)
        return Reply.json(JournalEncoder.one(entry.shown), to: request)
    }

    @Sendable private func undo(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let isPreview = try request.flag("preview")
        let number = try number(request)
        let served = try box.ready()
        let sender = try request.sender(context)
        var body: [UInt8] = []
        if request.headers[.contentType] != nil {
            body = try await request.readJSON(limit: limits.bodyBytes, deadline: context.deadline)
        }
        let groups = try UndoRequestDecoder.groups(body)
        let stored = try await service.entry(number, served: served, deadline: context.deadline)
        let push = try service.opposite(of: stored, served: served) { content, resource throws(Problem) in
            try UndoDecoder(resource: resource, groups: groups, columns: served.columns).edit(content)
        }
        let answer = try await service.merge(
            PushRequest(
                push: push, form: .merge, sender: sender, key: nil, address: "/v1/journal/\(number)/undo", body: body,
                isPreview: isPreview), served: served, deadline: context.deadline)
        if let result = answer.result, !isPreview { metrics.count(result) }
        return Reply.json(answer.body, to: request, status: HTTPResponse.Status(code: answer.code))
    }

    private func number(_ request: Request) throws(Problem) -> Int {
        let text = String(request.rawPath.dropFirst(2).first ?? "")
        guard let number = Int(text), number > 0 else {
            throw Problem(
                status: 404, code: "no-such-entry", title: "Not found", detail: "Entries of the journal have numbers.")
        }
        return number
    }

    private static func invalid(_ detail: String) -> Problem {
        Problem(status: 400, code: "invalid", title: "The query is not valid", detail: detail + ".")
    }
}

extension StoredEntry {
    /// The entry as it is shown.
    package var shown: ShownEntry {
        ShownEntry(
            number: number, at: at, who: sender.who, device: sender.device, key: key, resource: entry?.resource,
            status: entry?.status, rules: entry?.rules, content: entry?.body,
            refused: refused.map { ShownRefusal(address: $0.address, reason: $0.reason, body: $0.body) })
    }
}
