import Synchronization

/// The tokens that were verified, by their mark, until they end.
final class VerifiedTokens<Proof: Sendable>: Sendable {
    private struct Entry {
        let proof: Proof
        /// Seconds since 1970.
        let end: Double
    }

    private struct State {
        var entries: [TokenMark: Entry] = [:]
        /// Counts how often everything was forgotten.
        var generation = 0
    }

    private let most: Int
    private let state = Mutex(State())

    /// - Parameter most: the number of tokens that are kept.
    init(most: Int = 10_000) {
        self.most = most
    }

    /// The number of tokens that are kept.
    var count: Int { state.withLock { $0.entries.count } }

    /// The number that `keep` wants, taken before a token is verified.
    var generation: Int { state.withLock { $0.generation } }

    /// Returns what was proved of a token; nil where it is not known.
    ///
    /// - Throws: `TokenRefusal` where the token has ended since.
    func proof(of mark: TokenMark, now: Double) throws(TokenRefusal) -> Proof? {
        guard let entry = state.withLock({ $0.entries[mark] }) else { return nil }
        guard now < entry.end else {
            forget(mark)
            throw .expired
        }
        return entry.proof
    }

    /// Keeps a token, unless everything was forgotten while it was verified.
    ///
    /// - Parameter end: seconds since 1970 at which the token ends.
    func keep(_ proof: Proof, of mark: TokenMark, until end: Double, since generation: Int, now: Double) {
        state.withLock { state in
            guard state.generation == generation else { return }
            if state.entries.count >= most, state.entries[mark] == nil {
                state.entries = state.entries.filter { $0.value.end > now }
                // Any of them is as good as another; its next request verifies it again.
                while state.entries.count >= most, let any = state.entries.first?.key {
                    state.entries.removeValue(forKey: any)
                }
            }
            state.entries[mark] = Entry(proof: proof, end: end)
        }
    }

    /// Forgets one token, which is verified again when it comes.
    func forget(_ mark: TokenMark) {
        state.withLock { _ = $0.entries.removeValue(forKey: mark) }
    }

    /// Forgets all tokens, because keys have changed.
    func forget() {
        state.withLock { state in
            state.entries = [:]
            state.generation += 1
        }
    }
}
