import Operations
import Synchronization

/// The current tokens of the tokens file, shared by all connections.
package final class KnownTokens: TokenVerifier {
    private struct State: Equatable {
        var file: TokenFile
        var trouble: String?
    }

    private let state: Mutex<State>

    /// Accepts the tokens of a file.
    package init(_ file: TokenFile) {
        state = Mutex(State(file: file))
    }

    /// A sentence for operators about a fault of the file, or nil.
    package var trouble: String? { state.withLock { $0.trouble } }

    /// Replaces the tokens.
    ///
    /// - Returns: false if nothing changed.
    func serve(_ file: TokenFile, trouble: String? = nil) -> Bool {
        change { _ in State(file: file, trouble: trouble) }
    }

    /// Stores a fault of the file and keeps the tokens.
    ///
    /// - Returns: false if nothing changed.
    func note(_ trouble: String) -> Bool { change { State(file: $0.file, trouble: trouble) } }

    private func change(_ update: (State) -> State) -> Bool {
        state.withLock { state in
            let next = update(state)
            defer { state = next }
            return next != state
        }
    }

    func find(_ token: TokenDigest) -> Bearer? { state.withLock { $0.file.bearer(of: token) } }

    /// True if the file contains a refresh token.
    package var hasRefresh: Bool { state.withLock { $0.file.hasRefresh } }

    func refreshLine(named name: String) -> TokenLine? {
        guard let line = state.withLock({ $0.file.line(named: name) }), line.bearer.rights.contains(.refresh) else {
            return nil
        }
        return line
    }

    /// Returns the bearer of a token.
    package func bearer(of token: String) async throws(TokenRefusal) -> Bearer {
        guard let bearer = find(TokenDigest(token)) else { throw .unknown }
        return bearer
    }

    /// Returns true if the file contains the token.
    package func seemsGood(_ token: String) -> Bool { find(TokenDigest(token)) != nil }
}
