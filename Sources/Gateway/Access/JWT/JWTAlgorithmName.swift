import MergeCore

enum JWTAlgorithmName: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case ps256 = "PS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"
    /// Works only with the operator's secret.
    case hs256 = "HS256"

    /// Finds the algorithm of a name, or nil.
    ///
    /// It compares bytes: unauthenticated clients choose the name, and comparing strings costs the square of their
    /// length.
    init?(named name: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue.isExactly(name) }) else { return nil }
        self = known
    }
}

extension String {
    /// Compares a text with this lower-case text and ignores the case of ASCII letters.
    func isSameASCII(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { byte, sent in
                byte == sent || (byte == sent | 0x20 && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(sent))
            }
    }
}
