import HTTPTypes
import Hummingbird
import MergeCore
import Operations

/// All addresses of the gateway.
///
/// The router, the header `Allow` and the check of queries use this table.
struct RouteTable: Sendable {
    typealias Handler = @Sendable (Request, GatewayContext) async throws -> Response

    /// The right that an address needs.
    enum Need: Sendable {
        /// Read for GET and HEAD, write for other methods.
        case ofMethod
        case operate
        /// The right to request an access token.
        case refresh
        /// No right.
        case nothing
    }

    /// The effect of a request on data or on the gateway.
    enum Effect: Sendable {
        case reads
        case writes
        /// Writes, unless its query has `preview=true`.
        case writesWithoutPreview
    }

    struct Route: Sendable {
        /// A segment with a colon matches any text, and a final `**` any segments.
        let path: String
        let method: HTTPRequest.Method
        /// The members of its query; nil for any query.
        let query: [String]?
        let need: Need
        let effect: Effect
        let handler: Handler
    }

    private(set) var routes: [Route] = []
    /// The rules for requests of the console.
    let console: ConsoleGuard

    init(console: ConsoleGuard) {
        self.console = console
    }

    /// Adds an address for GET and HEAD.
    mutating func get(
        _ path: String, query: [String]? = [], need: Need = .ofMethod, use handler: @escaping Handler
    ) {
        for method in [HTTPRequest.Method.get, .head] {
            routes.append(
                Route(path: path, method: method, query: query, need: need, effect: .reads, handler: handler))
        }
    }

    /// Adds an address for POST.
    ///
    /// - Parameter onlyReads: true if its requests change nothing.
    mutating func post(
        _ path: String, query: [String] = [], need: Need = .ofMethod, onlyReads: Bool = false,
        use handler: @escaping Handler
    ) {
        let effect: Effect = onlyReads ? .reads : query.contains("preview") ? .writesWithoutPreview : .writes
        routes.append(
            Route(path: path, method: .post, query: query, need: need, effect: effect, handler: handler))
    }

    func responder(_ problems: ProblemMapping) -> RouterResponder<GatewayContext> {
        let router = Router(context: GatewayContext.self)
        for route in routes {
            let responder = RouteResponder(route: route, problems: problems, console: console)
            router.on(RouterPath(route.path), method: route.method, responder: responder)
        }
        // The middleware comes after the routes, so it runs only without a matching route.
        router.add(middleware: StrangeAddress(table: self, problems: problems))
        return router.buildResponder()
    }

    /// The methods of an address; empty if it is unknown.
    ///
    /// As in the router, a segment that some route names is no value of a parameter.
    func methods(at path: String) -> [HTTPRequest.Method] {
        let parts = path.split(separator: "/")
        var found = routes.map { (method: $0.method, path: $0.path.split(separator: "/")) }
        for (index, part) in parts.enumerated() {
            func next(_ isNext: (Substring) -> Bool) -> [(method: HTTPRequest.Method, path: [Substring])] {
                found.filter { $0.path.indices.contains(index) && $0.path[index] != "**" && isNext($0.path[index]) }
            }
            let open = found.filter { $0.path.last == "**" && $0.path.count <= index + 1 }
            let named = next { $0 == part }
            found = open + (named.isEmpty ? next { $0.hasPrefix(":") } : named)
        }
        return found.filter { $0.path.count == parts.count || $0.path.last == "**" && $0.path.count < parts.count }
            .map(\.method)
    }
}

/// Answers the requests of a route.
///
/// Errors become problem documents.
private final class RouteResponder: HTTPResponder {
    private let route: RouteTable.Route
    private let problems: ProblemMapping
    private let console: ConsoleGuard

    init(route: RouteTable.Route, problems: ProblemMapping, console: ConsoleGuard) {
        self.route = route
        self.problems = problems
        self.console = console
    }

    func respond(to request: Request, context: GatewayContext) async -> Response {
        do {
            var context = context
            if let known = route.query, let text = request.uri.query { context.query = try Query(text, known: known) }
            try Authentication.require(route.need, for: route.method, with: route.effect, of: context.bearer)
            try console.check(route.effect, of: context)
            return try await problems.box.underNewestRules(until: context.deadline) { _ in
                try await route.handler(request, context)
            }
        } catch {
            return problems.response(to: error, context)
        }
    }
}

/// Answers requests without a route.
private struct StrangeAddress: RouterMiddleware {
    let table: RouteTable
    let problems: ProblemMapping

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            // The router does not distinguish an unknown address from an unsupported method.
            let allowed = table.methods(at: context.path)
            return problems.response(to: allowed.isEmpty ? error : MethodNotAllowed(allowed: allowed), context)
        }
    }
}

/// A method that a known address does not support.
struct MethodNotAllowed: Error {
    let allowed: [HTTPRequest.Method]

    /// The value of the header `Allow`.
    var list: String { allowed.map(\.rawValue).joined(separator: ", ") }

    var problem: Problem {
        Problem(.methodNotAllowed, detail: "This address has the methods \(list).")
    }
}
