/// The cache key of a verified token: two SipHash-1-3 values under secret keys.
///
/// A digest without a secret would need collision resistance, and SHA-256 takes more than a microsecond for a token.
struct TokenMark: Hashable, Sendable {
    private let low, high: Int

    /// Made for each process, because `Hasher` can be configured to be deterministic.
    private static let keys = (Key(), Key())

    private struct Key: Hashable {
        private let low = UInt64.random(in: .min ... .max)
        private let high = UInt64.random(in: .min ... .max)
    }

    init(_ token: String) {
        var token = token
        (low, high) = token.withUTF8 { bytes in
            (
                Self.hash(UnsafeRawBufferPointer(bytes), key: Self.keys.0),
                Self.hash(UnsafeRawBufferPointer(bytes), key: Self.keys.1)
            )
        }
    }

    private static func hash(_ bytes: UnsafeRawBufferPointer, key: Key) -> Int {
        var hasher = Hasher()
        hasher.combine(key)
        hasher.combine(bytes: bytes)
        return hasher.finalize()
    }
}
