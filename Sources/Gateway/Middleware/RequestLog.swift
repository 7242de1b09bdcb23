import HTTPTypes
import Hummingbird
import Logging

/// Gives each request its deadline, and the log one line about it: never a value, a token or a query.
struct RequestLog: RouterMiddleware {
    let logger: Logger
    let seconds: Int
    let metrics: GatewayMetrics

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        let start = context.arrival
        var context = context
        context.deadline = start.advanced(by: .seconds(seconds))
        metrics.begin()
        let response = try await next(request, context)
        let milliseconds = (ContinuousClock.now - start) / .milliseconds(1)
        metrics.end(
            GatewayMetrics.RequestKind(
                method: request.method.rawValue, route: context.endpointPath ?? "other",
                status: response.status.code), seconds: milliseconds / 1_000)
        let level: Logger.Level = response.status.code >= 500 ? .error : .info
        guard logger.logLevel <= level else { return response }
        let tenths = Int((milliseconds * 10).rounded())
        var line = ""
        line.reserveCapacity(192)
        line += "request id="
        line += context.requestID
        line += " method="
        line += request.method.rawValue
        line += " path="
        line += request.uri.path
        line += " status="
        line += String(response.status.code)
        line += " ms="
        line += String(tenths / 10)
        line += "."
        line += String(tenths % 10)
        if let cause = context.failure.text { line += " cause=" + cause }
        logger.log(level: level, "\(line)")
        return response
    }
}
