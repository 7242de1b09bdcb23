internal import Crypto

/// The SHA-256 of a token.
///
/// The gateway stores no token in clear text.
struct TokenDigest: Hashable, Sendable {
    private let a, b, c, d: UInt64

    init(_ token: String) {
        var token = token
        let digest = token.withUTF8 { SHA256.hash(data: UnsafeRawBufferPointer($0)) }
        self = digest.withUnsafeBytes(Self.init)
    }

    /// Makes a digest of 32 bytes; nil for another length.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self = bytes.withUnsafeBytes(Self.init)
    }

    private init(_ bytes: UnsafeRawBufferPointer) {
        a = bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        b = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        c = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
        d = bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
    }

    /// Compares in constant time, which reveals nothing about a guess.
    static func == (one: TokenDigest, other: TokenDigest) -> Bool {
        (one.a ^ other.a) | (one.b ^ other.b) | (one.c ^ other.c) | (one.d ^ other.d) == 0
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(a)
        hasher.combine(b)
    }
}
