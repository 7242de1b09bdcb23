import HTTPTypes
import Hummingbird
import Logging

/// Checks, routes and logs requests.
///
/// The log contains no values, tokens or queries.
///
/// The steps of every request are here, because each middleware of Hummingbird adds stack frames.
final class GatewayResponder: HTTPResponder {
    let routes: RouterResponder<GatewayContext>
    let admission: Admission
    /// nil if no other origin is allowed.
    let crossOrigin: CrossOrigin?
    let problems: ProblemMapping
    let logger: Logger
    /// The maximum seconds of a request.
    let seconds: Int
    let metrics: GatewayMetrics
    let logsFields: Bool

    init(
        table: RouteTable, admission: Admission, crossOrigin: CrossOrigin?, problems: ProblemMapping, logger: Logger,
        seconds: Int, metrics: GatewayMetrics, logsFields: Bool
    ) {
        routes = table.responder(problems)
        self.admission = admission
        self.crossOrigin = crossOrigin
        self.problems = problems
        self.logger = logger
        self.seconds = seconds
        self.metrics = metrics
        self.logsFields = logsFields
    }

    func respond(to request: Request, context: GatewayContext) async -> Response {
        var context = context
        metrics.begin()
        var response: Response
        do {
            if case .failure(.unwanted(let problem)) = context.received.body { throw problem }
            if let answer = crossOrigin?.preflight(of: request, context) {
                response = answer
            } else {
                try await admission.admit(&context)
                response = try await routes.respond(to: request, context: context)
            }
        } catch {
            response = problems.response(to: error, context)
        }
        if response.status != .ok { problems.noteFailure(context.failure.facts.code) }
        if let bearer = context.bearer, let name = WhoHeader.name { response.headers[name] = bearer.who }
        crossOrigin?.mark(&response, to: context)
        let milliseconds = (ContinuousClock.now - context.received.arrival) / .milliseconds(1)
        metrics.end(
            GatewayMetrics.RequestKind(
                method: request.method.rawValue, route: context.endpointPath ?? "other",
                status: response.status.code), seconds: milliseconds / 1_000)
        let facts = context.failure.facts
        if let code = facts.code {
            metrics.count(problem: code, of: facts.resource ?? problems.resource(in: context.path))
        }
        let line = RequestLine(
            id: context.received.id, method: request.method.rawValue, path: Self.short(context.path),
            status: Int(response.status.code), milliseconds: milliseconds)
        if logger.logLevel <= line.level { log(line, context) }
        return response
    }

    /// The maximum bytes of a client's text in a log line.
    private static let longestText = 256

    /// Shortens a client's text for the log.
    static func short(_ text: String) -> String {
        if text.utf8.count <= longestText { return text }
        return String(decoding: text.utf8.prefix(longestText), as: UTF8.self) + "..."
    }

    private func log(_ bare: RequestLine, _ context: GatewayContext) {
        var line = bare
        line.client = context.received.client
        let facts = context.failure.facts
        if line.status >= 400 || facts.code != nil || facts.cause != nil || facts.outcomes != nil {
            line.facts = facts
            line.facts.resource = facts.resource ?? problems.resource(in: context.path)
            line.device = context.headers.text("x-device-id").map(Self.short)
        }
        log(line)
    }

    /// Writes a line to the log.
    func log(_ line: RequestLine) {
        if logsFields {
            logger.log(level: line.level, "request", metadata: line.metadata)
        } else {
            logger.log(level: line.level, "\(line.text)")
        }
    }
}
