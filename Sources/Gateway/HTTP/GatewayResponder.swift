import HTTPTypes
import Hummingbird
import Logging

/// Answers requests: gives each its deadline, hands it to the routes, counts it, and writes one line about it into the
/// log, never a value, a token or a query.
struct GatewayResponder: HTTPResponder {
    let routes: RouterResponder<GatewayContext>
    let problems: ProblemMapping
    let logger: Logger
    let seconds: Int
    let metrics: GatewayMetrics

    func respond(to request: Request, context: GatewayContext) async -> Response {
        var context = context
        context.deadline = context.arrival.advanced(by: .seconds(seconds))
        metrics.begin()
        let response: Response
        do {
            if case .failure(.unwanted(let problem)) = context.body { throw problem }
            response = try await routes.respond(to: request, context: context)
        } catch {
            response = problems.response(to: error, context)
        }
        let milliseconds = (ContinuousClock.now - context.arrival) / .milliseconds(1)
        metrics.end(
            GatewayMetrics.RequestKind(
                method: request.method.rawValue, route: context.endpointPath ?? "other",
                status: response.status.code), seconds: milliseconds / 1_000)
        let level: Logger.Level = response.status.code >= 500 ? .error : .info
        if logger.logLevel <= level {
            let line = Self.line(request, in: context, status: response.status.code, milliseconds: milliseconds)
            logger.log(level: level, "\(line)")
        }
        return response
    }

    /// The most bytes of a path in a line.
    private static let longestPath = 256

    /// A path as the log shows it: a client may send one of many thousand bytes with every request.
    static func short(_ path: String) -> String {
        if path.utf8.count <= longestPath { return path }
        return String(decoding: path.utf8.prefix(longestPath), as: UTF8.self) + "..."
    }

    private static func line(
        _ request: Request, in context: GatewayContext, status: Int, milliseconds: Double
    ) -> String {
        let tenths = Int((milliseconds * 10).rounded())
        var line = ""
        line.reserveCapacity(192)
        line += "request id="
        line += context.requestID
        line += " method="
        line += request.method.rawValue
        line += " path="
        line += Self.short(context.path)
        line += " status="
        line += String(status)
        line += " ms="
        line += String(tenths / 10)
        line += "."
        line += String(tenths % 10)
        if let cause = context.failure.text { line += " cause=" + cause }
        return line
    }
}
