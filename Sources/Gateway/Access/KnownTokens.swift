import Synchronization

/// The tokens that open the gateway at this moment, shared by all connections; each request asks anew.
package final class KnownTokens: Sendable {
    private struct State: Equatable {
        var file: TokenFile
        var trouble: String?
    }

    private let state: Mutex<State>

    package init(_ file: TokenFile) {
        state = Mutex(State(file: file))
    }

    /// A sentence for operators on the tokens file; nil where it is served as it stands.
    var trouble: String? { state.withLock { $0.trouble } }

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

    /// Returns who sends `Authorization: Bearer …`; nil where nobody known does.
    func bearer(header: String) -> TokenFile.Entry? {
        let file = state.withLock { $0.file }
        return file.bearer(header: header)
    }
}
