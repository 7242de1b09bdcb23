import HTTPTypes
import Hummingbird
import MergeCore

/// Lets in who may come in, and turns every error into a problem document.
///
/// One middleware for both, because each costs a frame of its own on the way of every request.
struct Admission: RouterMiddleware {
    let authentication: Authentication
    let problems: ProblemMapping
    let routes: RouteTable
    /// nil where everyone needs a token.
    let pages: PageGuard?
    /// nil where programs of any age are served.
    let minimum: MinimumClients?
    let rates: ClientRates

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        do {
            var context = context
            if let minimum, !context.path.isExactly("/healthz") { try minimum.check(context.headers) }
            try pages?.check(context.headers)
            context.bearer = try await authentication.bearer(context)
            if let bearer = context.bearer { context.failure.set(who: bearer.name) }
            if !Authentication.isOpen(context.path) { try rates.request(of: context.keyOwner) }
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            // The router's own, which looks for address and method at once.
            let allowed = routes.methods(at: context.path)
            return problems.response(to: allowed.isEmpty ? error : MethodNotAllowed(allowed: allowed), context)
        } catch {
            return problems.response(to: error, context)
        }
    }
}
