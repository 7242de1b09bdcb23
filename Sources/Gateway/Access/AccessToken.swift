internal import Crypto

/// A bearer token: 256 random bits that are shown once and kept only as their SHA-256.
package struct AccessToken: Sendable {
    /// The text that the client sends.
    package let secret: String

    /// A new token from the system's random numbers.
    package static func make() -> AccessToken {
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        return AccessToken(secret: "fm_" + Hex.encode(bytes))
    }

    /// The line for the tokens file.
    package func line(name: String, rights: Set<AccessRight>) -> String {
        let words = AccessRight.allCases.filter(rights.contains).map(\.rawValue).joined(separator: ",")
        return "\(name) \(words) sha256:\(Hex.encode(Self.hash(secret)))"
    }

    static func hash(_ secret: String) -> [UInt8] {
        var secret = secret
        return secret.withUTF8 { utf8 in
            var digest = SHA256()
            digest.update(bufferPointer: UnsafeRawBufferPointer(utf8))
            return digest.finalize().withUnsafeBytes { [UInt8]($0) }
        }
    }
}

/// A right of the bearer of a token.
package enum AccessRight: String, Sendable, CaseIterable {
    case read
    case write
}

/// Bytes as hexadecimal digits.
enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    static func encode(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let characters = Array(text.utf8)
        guard characters.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: characters.count, by: 2) {
            guard characters[index] != UInt8(ascii: "+"),
                let byte = UInt8(String(decoding: characters[index..<index + 2], as: UTF8.self), radix: 16)
            else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
