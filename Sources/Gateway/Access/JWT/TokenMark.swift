/// The name of a token among those that were verified: 128 bits under keys that nobody knows.
///
/// A digest without a key would have to be one of which nobody finds a second text, such as SHA-256, which takes a
/// microsecond and more for a token. These are two of SipHash-1-3, as the standard library computes it.
struct TokenMark: Hashable, Sendable {
    private let low, high: Int

    /// Made anew with each process, since `Hasher` can be told to have no key of its own.
    private static let keys = (Key(), Key())

    private struct Key: Hashable {
        private let low = UInt64.random(in: .min ... .max)
        private let high = UInt64.random(in: .min ... .max)
    }

    init(_ token: String) {
        var token = token
        (low, high) = token.withUTF8 { bytes in
            (
                Self.hash(UnsafeRawBufferPointer(bytes), Self.keys.0),
                Self.hash(UnsafeRawBufferPointer(bytes), Self.keys.1)
            )
        }
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer, _ key: Key) -> Int {
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(bytes: bytes)
        return hasher.finalize()
    }
}
