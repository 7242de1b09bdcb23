/// The characters of a text column's character set, and their sizes in bytes.
package enum Repertoire: Sendable, Hashable {
    /// All of Unicode in UTF-8: utf8mb4, and every text of SQLite.
    case unicode
    /// The basic multilingual plane in UTF-8: utf8mb3.
    case basicPlane
    /// All of Unicode in two or four bytes: utf16.
    case utf16
    /// The basic multilingual plane in two bytes: ucs2.
    case ucs2
    /// All of Unicode in four bytes: utf32.
    case utf32
    /// The listed code points, one byte each: latin1, latin2, ascii and similar sets.
    case singleByte(Set<UInt32>)

    /// Returns the first character that the set lacks, if any.
    package func firstMissing(in text: String) -> Unicode.Scalar? {
        switch self {
        case .unicode, .utf16, .utf32: nil
        case .basicPlane, .ucs2: text.unicodeScalars.first { $0.value > 0xFFFF }
        case .singleByte(let held): text.unicodeScalars.first { !held.contains($0.value) }
        }
    }

    /// Returns the length of the text in this character set, if `firstMissing` is nil.
    package func byteCount(_ text: String) -> Int {
        switch self {
        case .unicode, .basicPlane: text.utf8.count
        case .utf16, .ucs2: text.utf16.count * 2
        case .utf32: text.unicodeScalars.count * 4
        case .singleByte: text.unicodeScalars.count
        }
    }
}
