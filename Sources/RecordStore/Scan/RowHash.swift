package import MergeCore

/// Computes the digest of a row from the data that the database sent, without decoding values.
///
/// Every column begins with a word for its kind and its number of bytes. So NULL differs from the empty text, and
/// `("a", "bc")` from `("ab", "c")`.
package struct RowHash {
    private var hash: SipHash

    /// Begins the digest of a row.
    package init(key: SipHash.Key) {
        hash = SipHash(key: key)
    }

    private enum Mark: UInt64 {
        case null = 0
        case integer, unsigned, float, double, moment, bytes, text
    }

    @inline(__always)
    private mutating func mark(_ mark: Mark, count: Int = 0) { hash.combine(mark.rawValue | UInt64(count) << 8) }

    /// Adds NULL.
    package mutating func combineNull() { mark(.null) }

    /// Adds a whole number.
    package mutating func combine(_ number: Int64) {
        mark(.integer)
        hash.combine(UInt64(bitPattern: number))
    }

    /// Adds an unsigned number, which may be above the highest signed one.
    package mutating func combine(unsigned number: UInt64) {
        mark(number > UInt64(Int64.max) ? .unsigned : .integer)
        hash.combine(number)
    }

    /// Adds the bits of a number of single precision.
    package mutating func combine(_ number: Float) {
        mark(.float)
        hash.combine(UInt64(number.bitPattern))
    }

    /// Adds the bits of a number of double precision.
    package mutating func combine(_ number: Double) {
        mark(.double)
        hash.combine(number.bitPattern)
    }

    /// Adds the parts of a date, a time or both.
    package mutating func combine(moment date: UInt64, time: UInt64) {
        mark(.moment)
        hash.combine(date)
        hash.combine(time)
    }

    /// Adds a text, if the database distinguishes texts from bytes.
    package mutating func combine(text bytes: UnsafeRawBufferPointer) {
        mark(.text, count: bytes.count)
        hash.combine(padding: bytes)
    }

    /// Adds bytes, or the bytes of a text.
    package mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        mark(.bytes, count: bytes.count)
        hash.combine(padding: bytes)
    }

    /// Returns the digest.
    package consuming func finish() -> UInt64 { hash.finish() }
}

/// The digests of a SELECT's rows, and the values of few columns.
package struct HashedRows: Sendable {
    /// The digest of each row.
    package var digests: [UInt64] = []
    /// The requested values, row after row.
    package var values: [Value] = []
    /// The reasons why rows cannot be decoded, by position.
    ///
    /// All values of such a row are NULL.
    package private(set) var unreadable: [Int: String] = [:]

    /// Begins without rows.
    package init() {}

    /// Records that a value of the last row cannot be decoded.
    ///
    /// - Throws: the error if it is of another kind.
    package mutating func noteUnreadable(width: Int, because error: StoreError) throws(StoreError) {
        guard error.kind == .unreadable else { throw error }
        let start = (digests.count - 1) * width
        values.removeLast(values.count - start)
        values += repeatElement(.null, count: width)
        unreadable[digests.count - 1] = error.message
    }
}
