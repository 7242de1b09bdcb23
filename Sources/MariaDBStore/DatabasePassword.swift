import Synchronization

/// The password of the database user, which may change while connections are open.
///
/// New connections use the newest password. While the server still refuses it, they use the one before, so the file and
/// the server may change in either order.
package final class DatabasePassword: Sendable {
    private struct State {
        var current: String?
        /// nil after the server has accepted the current password.
        var former: String?
    }

    /// A sentence about the source of the password, for the refusal of the server.
    package let source: String?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - password: nil if there is none.
    ///   - source: a sentence about its source.
    package init(_ password: String?, source: String? = nil) {
        self.source = source
        state = Mutex(State(current: password))
    }

    /// Sets the password of new connections.
    ///
    /// - Returns: false if it is the current password.
    package func replace(with password: String) -> Bool {
        state.withLock { state in
            guard password != state.current else { return false }
            state = State(current: password, former: state.current)
            return true
        }
    }

    /// The passwords to try, in this order; empty texts are no password.
    var candidates: [String] {
        state.withLock { state in [state.current ?? ""] + (state.former.map { [$0] } ?? []) }
    }

    /// Forgets the former password after the server has accepted the current one.
    func accept(_ password: String) {
        state.withLock { state in
            if state.former != nil, password == state.current { state.former = nil }
        }
    }
}
