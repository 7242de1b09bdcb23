import Hummingbird
import MergeCore

/// Knows who has a token, and keeps the addresses for probes open.
struct Authentication {
    /// nil where the gateway listens on loopback addresses without tokens.
    let tokens: TokenFile?

    private static let open: Set<String> = ["/healthz", "/readyz"]

    /// Who sends a request; nil where nobody has to say so.
    ///
    /// - Throws: a 401 or 403 `Problem` where the request may not be served.
    func bearer(of request: Request, _ context: GatewayContext) throws(Problem) -> TokenFile.Entry? {
        guard let tokens, !Self.open.contains(context.path) else { return nil }
        guard let bearer = context.headers["authorization"].flatMap({ tokens.bearer(header: $0) }) else {
            throw Problem(
                status: 401, code: "no-token", title: "A token is needed",
                detail: "Send “Authorization: Bearer TOKEN” with a token that the gateway knows.")
        }
        let needed: AccessRight = request.method == .get || request.method == .head ? .read : .write
        guard bearer.rights.contains(needed) else {
            throw Problem(
                status: 403, code: "no-right", title: "The token lacks a right",
                detail: "The token may not \(needed.rawValue).")
        }
        return bearer
    }
}
