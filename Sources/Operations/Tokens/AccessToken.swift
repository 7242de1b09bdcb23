internal import Crypto
import MergeCore

/// A bearer token of 256 random bits, shown once; only its SHA-256 is stored.
package struct AccessToken: Sendable {
    /// The text that the client sends.
    package let secret: String

    /// Makes a token from the system's random numbers.
    package static func make() -> AccessToken {
        let bytes = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
        return AccessToken(secret: "fm_" + Hex.encode(bytes))
    }

    /// Returns the line for the tokens file.
    ///
    /// - Parameters:
    ///   - roles: names without commas and spaces.
    ///   - claims: a JSON object on one line; nil for none.
    package func line(
        name: String, rights: Set<AccessRight>, roles: [String] = [], claims: String? = nil
    ) -> String {
        let words = AccessRight.allCases.filter(rights.contains).map(\.rawValue).joined(separator: ",")
        var line = "\(name) \(words) sha256:\(Hex.encode(Self.hash(secret)))"
        if !roles.isEmpty { line += " roles=" + roles.joined(separator: ",") }
        if let claims { line += " claims=" + claims }
        return line
    }

    /// Returns the SHA-256 of a token, which is the only part that is stored.
    package static func hash(_ secret: String) -> [UInt8] {
        var secret = secret
        return secret.withUTF8 { utf8 in
            var digest = SHA256()
            digest.update(bufferPointer: UnsafeRawBufferPointer(utf8))
            return digest.finalize().withUnsafeBytes { [UInt8]($0) }
        }
    }
}
