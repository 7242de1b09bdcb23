import MergeCore

/// The algorithms that a token may be signed with.
enum JWTAlgorithmName: String, Sendable, CaseIterable {
    case rs256 = "RS256"
    case ps256 = "PS256"
    case es256 = "ES256"
    case edDSA = "EdDSA"
    /// With the operator's secret, and never with a key of a set.
    case hs256 = "HS256"

    /// Finds the algorithm of a name; nil where none has it.
    ///
    /// Bytes are compared, since whoever has no token chooses the name, and strings cost the square of their length.
    init?(named name: String) {
        guard let known = Self.allCases.first(where: { $0.rawValue.isExactly(name) }) else { return nil }
        self = known
    }
}

extension String {
    /// Returns true where another text differs from this one, which is in lower case, in nothing but capitals of ASCII.
    func isSameASCII(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { byte, sent in
                byte == sent || (byte == sent | 0x20 && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(sent))
            }
    }
}
