import MergeCore
import MergeWire

/// The decoded parts of a JWT (RFC 7519), before verification.
struct JWTParts: Sendable {
    let algorithm: JWTAlgorithmName
    let kid: String?
    let payload: [UInt8]
    let signature: [UInt8]
    /// The text that was signed.
    let signed: ArraySlice<UInt8>

    private static let types = ["jwt", "at+jwt", "application/at+jwt"]

    static func isLike(_ token: String) -> Bool {
        var token = token
        // A loop over bytes, because every request with a token runs it.
        return token.withUTF8 { $0.reduce(into: 0) { dots, byte in dots &+= byte == UInt8(ascii: ".") ? 1 : 0 } } == 2
    }

    /// Decodes a token.
    ///
    /// The header selects only the key and the algorithm.
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
        // RFC 7515 section 4.1.11: the gateway supports no critical headers, so it must refuse them.
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
