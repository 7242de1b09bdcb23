import HTTPTypes
import MergeCore
import Operations

/// Knows who has a token, and keeps the addresses for probes open.
struct Authentication {
    /// nil where the gateway listens on loopback addresses without tokens.
    let tokens: (any TokenVerifier)?

    private static let open = ["/healthz", "/readyz"]

    /// Returns the bearer that sends a request; nil where nobody has to say so.
    ///
    /// - Throws: a 401 `Problem` where the request may not be served.
    func bearer(_ context: GatewayContext) async throws(Problem) -> Bearer? {
        guard let tokens, !Self.open.containsExactly(context.path) else { return nil }
        if let token = context.headers["authorization"].flatMap(AuthorizationHeader.token),
            let bearer = await tokens.bearer(of: token)
        {
            return bearer
        }
        throw Problem(.noToken, detail: "Send “Authorization: Bearer TOKEN” with a token that the gateway knows.")
    }

    /// Checks that a token has the right that a method needs.
    ///
    /// - Parameter bearer: nil where nobody has to say who they are.
    /// - Throws: a 403 `Problem` where it has not.
    static func require(_ method: HTTPRequest.Method, of bearer: Bearer?) throws(Problem) {
        guard let bearer else { return }
        let needed: AccessRight = method == .get || method == .head ? .read : .write
        guard bearer.rights.contains(needed) else {
            throw Problem(.noRight, detail: "The token may not \(needed.rawValue).")
        }
    }
}
