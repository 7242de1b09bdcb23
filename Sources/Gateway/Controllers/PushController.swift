import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
import MergeWire

/// Writes: one edit, or a push of many.
struct PushController {
    let service: MergeService
    let box: RulesBox
    let limits: WireLimits
    let metrics: GatewayMetrics

    func addRoutes(to router: Router<GatewayContext>) {
        router.post("/v1/merge/:resource", use: merge)
        router.post("/v1/push", use: push)
    }

    @Sendable private func merge(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let served = try box.ready()
        let resource = try served.resource(at: request)
        let isPreview = try isPreview(request)
        let (body, key) = try await read(request, context)
        let push = try body.withUnsafeBytes { bytes throws(Problem) in
            try PushDecoder(catalog: served.catalog, limits: limits).merge(bytes, resource: resource, headerKey: key)
        }
        let result = try await service.merge(
            push, served: served, isPreview: isPreview, deadline: context.deadline)
        if !isPreview { metrics.count(result) }
        return Reply.json(ResultEncoder.merge(result), to: request, status: result.httpStatus(push))
    }

    @Sendable private func push(_ request: Request, _ context: GatewayContext) async throws -> Response {
        let served = try box.ready()
        let isPreview = try isPreview(request)
        let (body, key) = try await read(request, context)
        let push = try body.withUnsafeBytes { bytes throws(Problem) in
            try PushDecoder(catalog: served.catalog, limits: limits).push(bytes, headerKey: key)
        }
        let result = try await service.merge(
            push, served: served, isPreview: isPreview, deadline: context.deadline)
        if !isPreview { metrics.count(result) }
        return Reply.json(ResultEncoder.push(result), to: request, status: result.httpStatus(push))
    }

    private func isPreview(_ request: Request) throws(Problem) -> Bool {
        switch request.query("preview") {
        case nil, "false": return false
        case "true": return true
        default:
            throw Problem(
                status: 400, code: "invalid", title: "The query is not valid",
                detail: "“preview” is true or false; nothing was written.")
        }
    }

    private func read(_ request: Request, _ context: GatewayContext) async throws -> (body: [UInt8], key: String?) {
        let body = try await request.readJSON(limit: limits.bodyBytes, deadline: context.deadline)
        return (body, request.headers[Self.idempotencyKey])
    }

    private static let idempotencyKey = HTTPField.Name("Idempotency-Key") ?? .ifMatch
}

extension PushResult {
    /// The status of PROTOCOL section 5.
    func httpStatus(_ push: Push) -> HTTPResponse.Status {
        switch status {
        case .merged: .ok
        case .partial: HTTPResponse.Status(code: 207, reasonPhrase: "Multi-Status")
        case .rejected: .conflict
        case .failed: .unprocessableContent
        }
    }
}
