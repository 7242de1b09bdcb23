/// Text that is equal only to text of the same characters, code point by code point.
///
/// Swift's `String` calls canonically equivalent strings equal (NFC = NFD); a database column stores them as
/// different values, so PROTOCOL section 2 calls them different.
package struct ExactText: Sendable, Hashable, Comparable, CustomStringConvertible {
    package let string: String

    package init(_ string: String) {
        self.string = string
    }

    package static func == (a: ExactText, b: ExactText) -> Bool {
        let x = a.string.utf8
        let y = b.string.utf8
        return x.count == y.count && x.elementsEqual(y)
    }

    package func hash(into hasher: inout Hasher) {
        for byte in string.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0xFF))
    }

    /// Order of code points, which for UTF-8 is the order of the bytes.
    package static func < (a: ExactText, b: ExactText) -> Bool {
        a.string.utf8.lexicographicallyPrecedes(b.string.utf8)
    }

    package var description: String { string }
}
