import Synchronization

/// A cache of verified tokens until they expire.
final class VerifiedTokens<Proof: Sendable>: Sendable {
    private struct Entry {
        let proof: Proof
        /// Seconds since 1970.
        let end: Double
    }

    private struct State {
        var entries: [TokenMark: Entry] = [:]
        /// Counts the calls of `forget()`.
        var generation = 0
    }

    private let most: Int
    private let state = Mutex(State())

    init(most: Int = 10_000) {
        self.most = most
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// The current generation, which callers of `keep` read before the verification.
    var generation: Int { state.withLock { $0.generation } }

    /// Returns the proof of a token, or nil.
    ///
    /// - Throws: `TokenRefusal` if the token has expired.
    func proof(of mark: TokenMark, now: Double) throws(TokenRefusal) -> Proof? {
        guard let entry = state.withLock({ $0.entries[mark] }) else { return nil }
        guard now < entry.end else {
            forget(mark)
            throw .expired
        }
        return entry.proof
    }

    /// Stores a token, unless the cache was cleared during its verification.
    ///
    /// - Parameter end: seconds since 1970.
    func keep(_ proof: Proof, of mark: TokenMark, until end: Double, since generation: Int, now: Double) {
        state.withLock { state in
            guard state.generation == generation else { return }
            if state.entries.count >= most, state.entries[mark] == nil {
                state.entries = state.entries.filter { $0.value.end > now }
                // Any token will do, because it can be verified again.
                while state.entries.count >= most, let any = state.entries.first?.key {
                    state.entries.removeValue(forKey: any)
                }
            }
            state.entries[mark] = Entry(proof: proof, end: end)
        }
    }

    func forget(_ mark: TokenMark) {
        state.withLock { _ = $0.entries.removeValue(forKey: mark) }
    }

    /// Clears the cache after a change of keys.
    func forget() {
        state.withLock { state in
            state.entries = [:]
            state.generation += 1
        }
    }
}
