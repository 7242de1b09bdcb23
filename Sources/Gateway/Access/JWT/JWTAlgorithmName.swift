import MergeCore

/// The permitted algorithms of tokens.
enum JWTAlgorithmName: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case ps256 = "PS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"
    /// Works only with the operator's secret, never with a key of a key set.
    case hs256 = "HS256"

    /// Finds the algorithm of a name, or nil.
    ///
    /// It compares bytes. An unauthenticated client chooses the name, and comparing strings costs the square of their
    /// length.
    init?(named name: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue.isExactly(name) }) else { return nil }
        self = known
    }
}

extension String {
    /// Returns true if the other text equals this lower-case text, apart from capital letters of ASCII.
    func isSameASCII(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { byte, sent in
                byte == sent || (byte == sent | 0x20 && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(sent))
            }
    }
}
