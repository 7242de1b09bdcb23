/// The character set of a text in the binary log.
enum BinlogText: Sendable, Hashable {
    /// utf8mb4, utf8mb3 and ascii.
    case utf8
    /// The character of each byte, as the server converts it.
    case singleByte([Unicode.Scalar])
    /// ucs2 and utf16.
    case utf16
    case utf32
    /// A set that is not decoded.
    case other

    /// Returns the text; nil if it cannot be decoded.
    func string(_ bytes: ArraySlice<UInt8>) -> String? {
        switch self {
        case .utf8: String(validating: bytes, as: UTF8.self)
        case .singleByte(let characters): Self.text(bytes.map { characters[safe: Int($0)] })
        case .utf16:
            bytes.count % 2 == 0
                ? String(validating: Self.units(bytes, of: 2).map { UInt16($0) }, as: UTF16.self) : nil
        case .utf32: bytes.count % 4 == 0 ? Self.text(Self.units(bytes, of: 4).map { Unicode.Scalar($0) }) : nil
        case .other: nil
        }
    }

    private static func units(_ bytes: ArraySlice<UInt8>, of size: Int) -> [UInt32] {
        stride(from: bytes.startIndex, to: bytes.endIndex, by: size).map {
            UInt32(truncatingIfNeeded: bytes[$0..<min($0 + size, bytes.endIndex)].bigEndian)
        }
    }

    private static func text(_ scalars: [Unicode.Scalar?]) -> String? {
        let known = scalars.compactMap(\.self)
        return known.count == scalars.count ? String(String.UnicodeScalarView(known)) : nil
    }
}

extension Array {
    fileprivate subscript(safe index: Int) -> Element? { indices.contains(index) ? self[index] : nil }
}
