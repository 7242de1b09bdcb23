/// Text that is equal only to text of the same characters, code point by code point.
///
/// Swift's `String` calls canonically equivalent strings equal (NFC = NFD); a database column stores them as
/// different values, so Protocol.md, section 2 calls them different.
package struct ExactText: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The characters.
    package let string: String

    /// Takes a string as it is.
    package init(_ string: String) {
        self.string = string
    }

    package static func == (a: ExactText, b: ExactText) -> Bool {
        guard a.string.utf8.count == b.string.utf8.count else { return false }
        let same = a.string.utf8.withContiguousStorageIfAvailable { x in
            b.string.utf8.withContiguousStorageIfAvailable { y in
                Self.same(UnsafeRawBufferPointer(x), UnsafeRawBufferPointer(y))
            }
        }
        // Texts of other libraries may stand elsewhere.
        return (same ?? nil) ?? a.string.utf8.elementsEqual(b.string.utf8)
    }

    /// Compares texts of one length, eight bytes at a time, because every base is compared with what stands there.
    private static func same(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place + 8 <= a.count {
            let (x, y) = (
                a.loadUnaligned(fromByteOffset: place, as: UInt64.self),
                b.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            )
            if x != y { return false }
            place += 8
        }
        while place < a.count {
            if a[place] != b[place] { return false }
            place += 1
        }
        return true
    }

    package func hash(into hasher: inout Hasher) {
        var text = string
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8(0xFF))
    }

    /// Order of code points, which for UTF-8 is the order of the bytes.
    package static func < (a: ExactText, b: ExactText) -> Bool {
        a.string.utf8.lexicographicallyPrecedes(b.string.utf8)
    }

    package var description: String { string }
}

extension String {
    /// Returns true where another text has the same bytes.
    ///
    /// Swift's own `==` takes time in the square of a run of combining marks, so it is nothing for texts that clients send.
    package func isExactly(_ other: String) -> Bool { ExactText(self) == ExactText(other) }
}

extension Array<String> {
    /// Returns true where one of these has the bytes of a text.
    package func containsExactly(_ text: String) -> Bool { contains { $0.isExactly(text) } }
}
