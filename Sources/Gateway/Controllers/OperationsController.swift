import HTTPTypes
import Hummingbird
import MergeCore
import MergeService
import Operations
import RecordStore

/// Answers operators and their probes.
struct OperationsController {
    let engine: any RecordEngine
    let box: RulesBox
    let metrics: GatewayMetrics
    /// nil where nobody needs a token.
    let tokens: (any TokenVerifier)?

    private static let patience = Duration.seconds(3)

    func addRoutes(to routes: inout RouteTable) {
        routes.get("/healthz", use: health)
        routes.get("/readyz", use: readiness)
        routes.get("/metrics", use: counters)
        routes.get("/openapi.json", use: description)
    }

    @Sendable private func counters(_ request: Request, _ context: GatewayContext) async throws -> Response {
        Reply.json(
            Array(metrics.text(isReady: box.served != nil).utf8), to: context.headers, type: "text/plain; version=0.0.4"
        )
    }

    @Sendable private func description(_ request: Request, _ context: GatewayContext) async throws -> Response {
        Reply.json(Array(OpenAPI.document.utf8), to: context.headers)
    }

    /// The process runs and answers.
    @Sendable private func health(_ request: Request, _ context: GatewayContext) async throws -> Response {
        Reply.json(Array(#"{"status":"ok"}"#.utf8), to: context.headers)
    }

    /// The database answers and the rules are served.
    @Sendable private func readiness(_ request: Request, _ context: GatewayContext) async throws -> Response {
        var trouble = box.trouble
        if let fault = tokens?.trouble { trouble.append(fault) }
        var isReady = box.served != nil
        do {
            try await engine.ping(deadline: min(context.deadline, .now.advanced(by: Self.patience)))
        } catch {
            isReady = false
            if !trouble.contains(error.description) { trouble.insert(error.description, at: 0) }
        }
        var size: (rows: Int, bytes: Int, lastDay: Int)?
        if isReady, let kept = box.served?.journal {
            do {
                size = try await kept.size(min(context.deadline, .now.advanced(by: Self.patience)))
            } catch {
                trouble.append("the journal cannot be read: \(error)")
            }
        }
        let report = ReadinessReport(
            isReady: isReady, version: box.served?.catalog.version, trouble: trouble, promise: box.promise,
            journalRows: size?.rows, journalBytes: size?.bytes, journalLastDay: size?.lastDay)
        return Reply.json(
            report.json, to: context.headers, status: isReady ? .ok : .serviceUnavailable,
            with: isReady ? [:] : [.retryAfter: "5"])
    }
}
