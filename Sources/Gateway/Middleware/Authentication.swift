import HTTPTypes
import MergeCore
import Operations

/// Checks tokens and rights.
///
/// Probes, the client library, the app and the files of the console need no token.
struct Authentication {
    /// nil if the gateway listens on loopback addresses without tokens.
    let tokens: (any TokenVerifier)?

    // A browser requests its icon without a token. There is none, so the answer is 404.
    private static let open = ["/healthz", "/readyz", "/app", "/console", "/favicon.ico"]

    private static let folders = ["/client/", "/app/", "/console/"]

    /// Returns true for the addresses that need no token.
    static func isOpen(_ path: String) -> Bool {
        // Most requests.
        if path.utf8.starts(with: "/v1/".utf8) { return false }
        return open.containsExactly(path) || folders.contains { path.utf8.starts(with: $0.utf8) }
    }

    /// The only address that accepts a refresh token.
    static let tokenAddress = "/v1/token"

    /// Returns the sender of a request; nil if the request needs no token.
    ///
    /// - Throws: a 401 `Problem` if the token or `X-Who` is wrong.
    func bearer(_ context: GatewayContext) async throws(Problem) -> Bearer? {
        guard let tokens, !Self.isOpen(context.path) else { return nil }
        let bearer = try await knownBearer(by: tokens, context)
        if let who = context.headers[WhoHeader.lowercased], who != bearer.who {
            throw Problem(
                .otherWho, detail: "X-Who names another user than the token. Send a token of the user that it names.")
        }
        return bearer
    }

    private func knownBearer(by tokens: any TokenVerifier, _ context: GatewayContext) async throws(Problem) -> Bearer {
        do throws(TokenRefusal) {
            guard let header = context.headers["authorization"] else { throw .missing }
            // A proxy may have used either token, so two are refused.
            guard context.headers.count("authorization") == 1, let token = AuthorizationHeader.token(in: header) else {
                throw .malformed
            }
            let bearer = try await tokens.bearer(of: token)
            guard !bearer.rights.contains(.refresh) || context.path.isExactly(Self.tokenAddress) else {
                throw .refreshOnly
            }
            return bearer
        } catch {
            // Only the operator's log contains the reason.
            context.failure.set(error)
            throw Problem(.noToken, detail: "Send “Authorization: Bearer TOKEN” with a valid token.")
        }
    }

    /// Checks that a token has the right for an address.
    ///
    /// - Throws: a 403 `Problem` without the right.
    static func require(
        _ need: RouteTable.Need, for method: HTTPRequest.Method, with effect: RouteTable.Effect, of bearer: Bearer?
    ) throws(Problem) {
        guard let bearer else { return }
        let ofMethod: AccessRight = method == .get || method == .head ? .read : .write
        switch need {
        case .ofMethod: try require(ofMethod, isThere: bearer.rights.contains(ofMethod))
        case .operate:
            let right: AccessRight = effect == .reads ? .read : .write
            // A missing right to read or write is reported first.
            let isLimited = !bearer.rights.contains(.operate) || bearer.rights.contains(.read)
            if isLimited { try require(right, isThere: bearer.rights.contains(right)) }
            guard bearer.isOperator else {
                throw Problem(
                    .noRight, detail: "The journal needs an operator's token: the right or the role “operator”.")
            }
        case .refresh: try require(.refresh, isThere: bearer.rights.contains(.refresh))
        case .nothing: break
        }
    }

    private static func require(_ right: AccessRight, isThere: Bool) throws(Problem) {
        guard isThere else { throw Problem(.noRight, detail: "The token has no right to \(right.rawValue).") }
    }
}
