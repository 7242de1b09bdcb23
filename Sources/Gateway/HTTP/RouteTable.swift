import HTTPTypes
import Hummingbird
import MergeCore
import Operations

/// Every address that the gateway knows, with its methods and the members of its query.
///
/// What is routed, what `Allow` says and what a query may hold all come from here.
struct RouteTable: Sendable {
    typealias Handler = @Sendable (Request, GatewayContext) async throws -> Response

    /// The right that an address needs.
    enum Need: Sendable {
        /// To read what is got, to write for anything else.
        case ofMethod
        /// That of an operator.
        case operate
        /// To ask for an access token.
        case refresh
        /// None: whoever asks is served.
        case nothing
    }

    /// One address under one method.
    struct Route: Sendable {
        /// Parts that begin with a colon stand for any text, and `**` at the end for any parts.
        let path: String
        let method: HTTPRequest.Method
        /// The members of its query; nil where anything may stand in it.
        let query: [String]?
        let need: Need
        let handler: Handler
    }

    private(set) var routes: [Route] = []

    /// Adds what is read, which is served under `HEAD` as well: with the same headers, and without the body.
    mutating func get(
        _ path: String, query: [String]? = [], need: Need = .ofMethod, use handler: @escaping Handler
    ) {
        for method in [HTTPRequest.Method.get, .head] {
            routes.append(Route(path: path, method: method, query: query, need: need, handler: handler))
        }
    }

    mutating func post(
        _ path: String, query: [String] = [], need: Need = .ofMethod, use handler: @escaping Handler
    ) {
        routes.append(Route(path: path, method: .post, query: query, need: need, handler: handler))
    }

    /// Returns what answers the requests of every route, and all others.
    func responder(_ problems: ProblemMapping) -> RouterResponder<GatewayContext> {
        let router = Router(context: GatewayContext.self)
        for route in routes {
            let responder = RouteResponder(route: route, problems: problems)
            router.on(RouterPath(route.path), method: route.method, responder: responder)
        }
        // Stands in no way but that to no route, since it is added behind them.
        router.add(middleware: StrangeAddress(table: self, problems: problems))
        return router.buildResponder()
    }

    /// The methods of an address; none where it is unknown.
    func methods(at path: String) -> [HTTPRequest.Method] {
        let parts = path.split(separator: "/")
        return routes.filter { route in
            let wanted = route.path.split(separator: "/")
            let isOpen = wanted.last == "**"
            return (isOpen ? wanted.count <= parts.count : wanted.count == parts.count)
                && zip(wanted, parts).allSatisfy { wanted, part in
                    wanted.hasPrefix(":") || wanted == "**" || wanted == part
                }
        }.map(\.method)
    }
}

/// Answers the requests of one route, once they are what the route is asked with, and every error with a problem document.
private final class RouteResponder: HTTPResponder {
    private let route: RouteTable.Route
    private let problems: ProblemMapping

    init(route: RouteTable.Route, problems: ProblemMapping) {
        self.route = route
        self.problems = problems
    }

    func respond(to request: Request, context: GatewayContext) async -> Response {
        do {
            var context = context
            if let known = route.query, let text = request.uri.query { context.query = try Query(text, known: known) }
            try Authentication.require(route.need, for: route.method, of: context.bearer)
            return try await problems.box.underNewestRules(until: context.deadline) { _ in
                try await route.handler(request, context)
            }
        } catch {
            return problems.response(to: error, context)
        }
    }
}

/// Answers requests for which there is no route: the address is unknown, or served under other methods.
private struct StrangeAddress: RouterMiddleware {
    let table: RouteTable
    let problems: ProblemMapping

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch {
            // The router looks for address and method at once, and says the same of both.
            let allowed = table.methods(at: context.path)
            return problems.response(to: allowed.isEmpty ? error : MethodNotAllowed(allowed: allowed), context)
        }
    }
}

/// A method under which a known address is not served.
struct MethodNotAllowed: Error {
    /// Those under which it is.
    let allowed: [HTTPRequest.Method]

    /// The value of the header `Allow`.
    var list: String { allowed.map(\.rawValue).joined(separator: ", ") }

    var problem: Problem {
        Problem(.methodNotAllowed, detail: "This address is served under \(list).")
    }
}
