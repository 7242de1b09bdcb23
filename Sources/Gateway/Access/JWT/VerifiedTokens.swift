internal import Crypto
import Synchronization

/// The tokens that were verified, by their digest, until they end.
final class VerifiedTokens: Sendable {
    /// The SHA-256 of a token.
    struct Digest: Hashable, Sendable {
        private let a, b, c, d: UInt64

        init(_ token: String) {
            var token = token
            let digest = token.withUTF8 { SHA256.hash(data: UnsafeRawBufferPointer($0)) }
            (a, b, c, d) = digest.withUnsafeBytes { bytes in
                (
                    bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self),
                    bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                    bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self),
                    bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
                )
            }
        }
    }

    private struct State {
        var bearers: [Digest: Bearer] = [:]
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
    var count: Int { state.withLock { $0.bearers.count } }

    /// The number that `keep` wants, taken before a token is verified.
    var generation: Int { state.withLock { $0.generation } }

    /// Returns the bearer of a token that was verified; nil where it is not known.
    ///
    /// - Throws: `TokenRefusal` where the token has ended since.
    func bearer(of digest: Digest, now: Double) throws(TokenRefusal) -> Bearer? {
        guard let bearer = state.withLock({ $0.bearers[digest] }) else { return nil }
        if let expiry = bearer.expiry, now >= expiry {
            state.withLock { _ = $0.bearers.removeValue(forKey: digest) }
            throw .expired
        }
        return bearer
    }

    /// Keeps a token, unless everything was forgotten while it was verified.
    func keep(_ bearer: Bearer, of digest: Digest, since generation: Int, now: Double) {
        state.withLock { state in
            guard state.generation == generation else { return }
            if state.bearers.count >= most {
                state.bearers = state.bearers.filter { ($0.value.expiry ?? .infinity) > now }
                // Any of them is as good as another; its next request verifies it again.
                while state.bearers.count >= most, let any = state.bearers.first?.key {
                    state.bearers.removeValue(forKey: any)
                }
            }
            state.bearers[digest] = bearer
        }
    }

    /// Forgets all tokens, because keys have changed.
    func forget() {
        state.withLock { state in
            state.bearers = [:]
            state.generation += 1
        }
    }
}
