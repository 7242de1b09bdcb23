internal import Crypto

/// The SHA-256 of a token, which is all that is kept of it.
struct TokenDigest: Hashable, Sendable {
    private let a, b, c, d: UInt64

    init(_ token: String) {
        var token = token
        let digest = token.withUTF8 { SHA256.hash(data: UnsafeRawBufferPointer($0)) }
        self = digest.withUnsafeBytes(Self.init)
    }

    /// Takes the digest of a line of the tokens file; nil for other than 32 bytes.
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

    /// Compares all of it, so that the time taken tells nothing of how close a guess came.
    static func == (one: TokenDigest, other: TokenDigest) -> Bool {
        (one.a ^ other.a) | (one.b ^ other.b) | (one.c ^ other.c) | (one.d ^ other.d) == 0
    }

    /// Hashes half of it, which no two tokens share.
    func hash(into hasher: inout Hasher) {
        hasher.combine(a)
        hasher.combine(b)
    }
}
