import Operations
import Synchronization

/// The tokens that open the gateway at this moment, shared by all connections; each request asks anew.
package final class KnownTokens: TokenVerifier {
    private struct State: Equatable {
        var file: TokenFile
        var trouble: String?
    }

    private let state: Mutex<State>

    /// Lets in those of a file.
    package init(_ file: TokenFile) {
        state = Mutex(State(file: file))
    }

    /// A sentence for operators on the tokens file; nil where it is served as it stands.
    package var trouble: String? { state.withLock { $0.trouble } }

    /// Lets in those of another file, and no others.
    ///
    /// - Returns: false where nothing is other than before.
    func serve(_ file: TokenFile, trouble: String? = nil) -> Bool {
        change { _ in State(file: file, trouble: trouble) }
    }

    /// Keeps the tokens and notes what is wrong.
    ///
    /// - Returns: false where it was noted before.
    func note(_ trouble: String) -> Bool { change { State(file: $0.file, trouble: trouble) } }

    private func change(_ update: (State) -> State) -> Bool {
        state.withLock { state in
            let next = update(state)
            defer { state = next }
            return next != state
        }
    }

    /// Returns the bearer of a token of the file; nil where it stands not in it.
    func find(_ token: TokenDigest) -> Bearer? { state.withLock { $0.file.bearer(of: token) } }

    /// True where the file has a refresh token.
    package var hasRefresh: Bool { state.withLock { $0.file.hasRefresh } }

    /// Returns the line of a refresh token; nil where there is none of this name.
    func refreshLine(named name: String) -> TokenLine? {
        guard let line = state.withLock({ $0.file.line(named: name) }), line.bearer.rights.contains(.refresh) else {
            return nil
        }
        return line
    }

    /// Returns the bearer of a token of the file.
    ///
    /// - Throws: `TokenRefusal` where it stands not in it.
    package func bearer(of token: String) async throws(TokenRefusal) -> Bearer {
        guard let bearer = find(TokenDigest(token)) else { throw .unknown }
        return bearer
    }

    /// Returns true for a token of the file.
    package func seemsGood(_ token: String) -> Bool { find(TokenDigest(token)) != nil }
}
