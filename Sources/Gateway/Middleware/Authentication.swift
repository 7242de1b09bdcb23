import HTTPTypes
import MergeCore

/// Knows who has a token, and keeps the addresses for probes open.
struct Authentication {
    /// nil where the gateway listens on loopback addresses without tokens.
    let tokens: KnownTokens?

    private static let open = ["/healthz", "/readyz"]

    /// Returns the bearer that sends a request; nil where nobody has to say so.
    ///
    /// - Throws: a 401 `Problem` where the request may not be served.
    func bearer(_ context: GatewayContext) throws(Problem) -> TokenFile.Entry? {
        guard let tokens, !Self.open.containsExactly(context.path) else { return nil }
        guard let bearer = context.headers["authorization"].flatMap({ tokens.bearer(header: $0) }) else {
            throw Problem(
                status: 401, code: "no-token", title: "A token is needed",
                detail: "Send “Authorization: Bearer TOKEN” with a token that the gateway knows.")
        }
        return bearer
    }

    /// Checks that a token has the right that a method needs.
    ///
    /// - Parameter bearer: nil where nobody has to say who they are.
    /// - Throws: a 403 `Problem` where it has not.
    static func require(_ method: HTTPRequest.Method, of bearer: TokenFile.Entry?) throws(Problem) {
        guard let bearer else { return }
        let needed: AccessRight = method == .get || method == .head ? .read : .write
        guard bearer.rights.contains(needed) else {
            throw Problem(
                status: 403, code: "no-right", title: "The token lacks a right",
                detail: "The token may not \(needed.rawValue).")
        }
    }
}
