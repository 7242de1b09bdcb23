import HTTPTypes
import Hummingbird
import MergeCore

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

    /// Hands every route to the router.
    func register(on router: Router<GatewayContext>) {
        for route in routes {
            router.on(RouterPath(route.path), method: route.method, responder: RouteResponder(route: route))
        }
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

/// Answers the requests of one route, once they are what the route is asked with.
private struct RouteResponder: HTTPResponder {
    let route: RouteTable.Route

    func respond(to request: Request, context: GatewayContext) async throws -> Response {
        guard let known = route.query, let text = request.uri.query else {
            try Authentication.require(route.need, for: route.method, of: context.bearer)
            return try await route.handler(request, context)
        }
        var context = context
        context.query = try Query(text, known: known)
        try Authentication.require(route.need, for: route.method, of: context.bearer)
        return try await route.handler(request, context)
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
