import HTTPTypes
import MergeCore
import Operations

/// Knows who has a token, and keeps the addresses for probes, and those of the client library and of the app,
/// open.
struct Authentication {
    /// nil where the gateway listens on loopback addresses without tokens.
    let tokens: (any TokenVerifier)?

    private static let open = ["/healthz", "/readyz", "/app"]

    /// The folders of the client library and of the app.
    private static let folders = ["/client/", "/app/"]

    /// Returns true for the addresses of probes, of the client library and of the app.
    static func isOpen(_ path: String) -> Bool {
        // All others are there, and asked for more often.
        if path.utf8.starts(with: "/v1/".utf8) { return false }
        return open.containsExactly(path) || folders.contains { path.utf8.starts(with: $0.utf8) }
    }

    /// The one address that a refresh token opens.
    static let tokenAddress = "/v1/token"

    /// Returns the bearer that sends a request; nil where nobody has to say so.
    ///
    /// - Throws: a 401 `Problem` where the request may not be served.
    func bearer(_ context: GatewayContext) async throws(Problem) -> Bearer? {
        guard let tokens, !Self.isOpen(context.path) else { return nil }
        let bearer = try await knownBearer(by: tokens, context)
        if let who = context.headers[WhoHeader.lowercased], who != bearer.who {
            throw Problem(
                .otherWho, detail: "X-Who names another user than the token. Send a token of the user that it names.")
        }
        return bearer
    }

    /// Returns the bearer of the token in a request.
    private func knownBearer(by tokens: any TokenVerifier, _ context: GatewayContext) async throws(Problem) -> Bearer {
        do throws(TokenRefusal) {
            guard let header = context.headers["authorization"] else { throw .missing }
            // Two tokens are two clients, and which of them a proxy went by is not sure.
            guard context.headers.count("authorization") == 1, let token = AuthorizationHeader.token(in: header) else {
                throw .malformed
            }
            let bearer = try await tokens.bearer(of: token)
            guard !bearer.rights.contains(.refresh) || context.path.isExactly(Self.tokenAddress) else {
                throw .refreshOnly
            }
            return bearer
        } catch {
            // Why it opens nothing is for the operator alone to know.
            context.failure.set(error)
            throw Problem(.noToken, detail: "Send “Authorization: Bearer TOKEN” with a token that the gateway knows.")
        }
    }

    /// Checks that a token has the right that an address needs.
    ///
    /// - Parameter bearer: nil where nobody has to say who they are.
    /// - Throws: a 403 `Problem` where it has not.
    static func require(
        _ need: RouteTable.Need, for method: HTTPRequest.Method, of bearer: Bearer?
    ) throws(Problem) {
        guard let bearer else { return }
        let ofMethod: AccessRight = method == .get || method == .head ? .read : .write
        switch need {
        case .ofMethod: try require(ofMethod, isThere: bearer.rights.contains(ofMethod))
        case .operate:
            // Whoever may only read is told that first.
            if !bearer.rights.contains(.operate) {
                try require(ofMethod, isThere: bearer.rights.contains(ofMethod))
            }
            guard bearer.isOperator(beside: ofMethod) else {
                throw Problem(
                    .noRight, detail: "The journal is for operators: the token has neither the right nor the role.")
            }
        case .refresh: try require(.refresh, isThere: bearer.rights.contains(.refresh))
        case .nothing: break
        }
    }

    private static func require(_ right: AccessRight, isThere: Bool) throws(Problem) {
        guard isThere else { throw Problem(.noRight, detail: "The token may not \(right.rawValue).") }
    }
}
