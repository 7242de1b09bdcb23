import MergeCore
import MergeWire

/// A token in the form of a JWT (RFC 7519), taken apart and not verified.
struct JWTParts: Sendable {
    let algorithm: JWTAlgorithmName
    let kid: String?
    let payload: [UInt8]
    let signature: [UInt8]
    /// The text that was signed.
    let signed: ArraySlice<UInt8>

    private static let types = ["jwt", "at+jwt", "application/at+jwt"]

    /// Returns true for what has the form of a JWT; any other token is one of the tokens file.
    static func isLike(_ token: String) -> Bool {
        var token = token
        // A loop over the bytes themselves, which every request with a token passes through.
        return token.withUTF8 { $0.reduce(into: 0) { dots, byte in dots &+= byte == UInt8(ascii: ".") ? 1 : 0 } } == 2
    }

    /// Reads the header, which decides nothing but which key and algorithm are asked for.
    ///
    /// - Throws: `TokenRefusal` that names the check that failed.
    init(_ token: String) throws(TokenRefusal) {
        let bytes = Array(token.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2])
        else { throw .malformed }
        guard let header = try? ClaimsDecoder.decode(head) else { throw .malformed }
        guard case .text(let name)? = header["alg"], let algorithm = JWTAlgorithmName(named: name) else {
            throw .algorithm
        }
        // RFC 7515 section 4.1.11: who does not know what is critical refuses, and nothing is known.
        guard header["crit"] == nil, header["b64"] == nil else { throw .critical }
        if let type = header["typ"] {
            guard case .text(let text) = type, Self.types.contains(where: { $0.isSameASCII(text) }) else { throw .type }
        }
        var kid: String?
        if let named = header["kid"] {
            guard case .text(let text) = named else { throw .malformed }
            kid = text
        }
        self.algorithm = algorithm
        self.kid = kid
        self.payload = payload
        self.signature = signature
        signed = bytes[..<parts[2].startIndex].dropLast()
    }
}
