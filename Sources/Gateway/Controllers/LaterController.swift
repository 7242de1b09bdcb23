import Hummingbird
import MergeCore

/// Addresses of Protocol.md that this version does not serve yet: they say so.
struct LaterController {
    func addRoutes(to routes: inout RouteTable) {
        routes.post("/v1/sync", query: ["by"], use: later)
        routes.get("/v1/changes", query: ["since", "feed", "resources", "limit", "wait"], use: later)
    }

    @Sendable private func later(_ request: Request, _ context: GatewayContext) async throws -> Response {
        throw Problem(.notImplemented, detail: "This address is not supported yet.")
    }
}
