import Hummingbird
import MergeCore

/// Addresses of PROTOCOL that this version does not serve yet: they say so.
struct LaterController {
    func addRoutes(to router: Router<GatewayContext>) {
        router.post("/v1/sync", use: later)
        router.get("/v1/changes", use: later)
    }

    @Sendable private func later(_ request: Request, _ context: GatewayContext) async throws -> Response {
        throw Problem(
            status: 501, code: "not-implemented", title: "Not there yet",
            detail: "This address is not supported yet.")
    }
}
