import Hummingbird

/// Lets in who may come in, and turns every error into a problem document.
///
/// One middleware for both, because each costs a frame of its own on the way of every request.
struct Admission: RouterMiddleware {
    let authentication: Authentication
    let problems: ProblemMapping

    func handle(
        _ request: Request, context: GatewayContext, next: (Request, GatewayContext) async throws -> Response
    ) async throws -> Response {
        do {
            var context = context
            context.bearer = try authentication.bearer(of: request, context)
            return try await next(request, context)
        } catch {
            return problems.response(to: error, context)
        }
    }
}
