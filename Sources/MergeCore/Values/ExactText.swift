/// Text that is compared by code points.
///
/// Swift's `String` treats canonically equivalent strings as equal (NFC = NFD). A column stores them as different
/// values, so Protocol.md, section 2 does too.
package struct ExactText: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The characters.
    package let string: String

    /// Wraps a string.
    package init(_ string: String) {
        self.string = string
    }

    package static func == (a: ExactText, b: ExactText) -> Bool {
        guard a.string.utf8.count == b.string.utf8.count else { return false }
        let same = a.string.utf8.withContiguousStorageIfAvailable { x in
            b.string.utf8.withContiguousStorageIfAvailable { y in
                Self.same(UnsafeRawBufferPointer(x), b: UnsafeRawBufferPointer(y))
            }
        }
        // Strings of other libraries may have no contiguous storage.
        return (same ?? nil) ?? a.string.utf8.elementsEqual(b.string.utf8)
    }

    /// Compares texts of equal length, eight bytes at a time, because every base is compared with the current value.
    private static func same(_ a: UnsafeRawBufferPointer, b: UnsafeRawBufferPointer) -> Bool {
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

    /// Compares by bytes, which for UTF-8 is the order of the code points.
    package static func < (a: ExactText, b: ExactText) -> Bool {
        a.string.utf8.lexicographicallyPrecedes(b.string.utf8)
    }

    package var description: String { string }
}

extension String {
    /// Returns true if both texts have the same bytes.
    ///
    /// Swift's `==` takes quadratic time for a run of combining marks, so it is unsuitable for texts of clients.
    package func isExactly(_ other: String) -> Bool { ExactText(self) == ExactText(other) }
}

extension Array<String> {
    /// Returns true if an element has the bytes of the text.
    package func containsExactly(_ text: String) -> Bool { contains { $0.isExactly(text) } }
}
