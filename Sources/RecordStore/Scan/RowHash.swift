package import MergeCore

/// The digest of a row as the database sent it, without making values of it.
///
/// Every column begins with a word that says what follows, and how many bytes, so that no two rows come to the same
/// words: NULL is not the empty text, and `("a", "bc")` is not `("ab", "c")`.
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

    /// Takes a column that is NULL.
    package mutating func combineNull() { mark(.null) }

    /// Takes a whole number.
    package mutating func combine(_ number: Int64) {
        mark(.integer)
        hash.combine(UInt64(bitPattern: number))
    }

    /// Takes a whole number that may be beyond those with a sign.
    package mutating func combine(unsigned number: UInt64) {
        mark(number > UInt64(Int64.max) ? .unsigned : .integer)
        hash.combine(number)
    }

    /// Takes a number of single precision by its bits.
    package mutating func combine(_ number: Float) {
        mark(.float)
        hash.combine(UInt64(number.bitPattern))
    }

    /// Takes a number of double precision by its bits.
    package mutating func combine(_ number: Double) {
        mark(.double)
        hash.combine(number.bitPattern)
    }

    /// Takes a moment, a date or a span of time in its parts.
    package mutating func combine(moment date: UInt64, time: UInt64) {
        mark(.moment)
        hash.combine(date)
        hash.combine(time)
    }

    /// Takes a text, where the database tells texts from bytes.
    package mutating func combine(text bytes: UnsafeRawBufferPointer) {
        mark(.text, count: bytes.count)
        hash.combine(padding: bytes)
    }

    /// Takes bytes, or a text by its bytes.
    package mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        mark(.bytes, count: bytes.count)
        hash.combine(padding: bytes)
    }

    /// Returns the digest.
    package consuming func finish() -> UInt64 { hash.finish() }
}

/// Rows of a SELECT as a scan wants them: their digests, and of most no values.
package struct HashedRows: Sendable {
    /// The digest of each row.
    package var digests: [UInt64] = []
    /// The values of the columns that were asked for, of each row, one row after the other.
    package var values: [Value] = []
    /// The reasons why values of some rows cannot be decoded, by the rows' positions.
    ///
    /// The values of such a row are NULL.
    package private(set) var unreadable: [Int: String] = [:]

    /// Begins without rows.
    package init() {}

    /// Notes that a value of the last row cannot be decoded.
    ///
    /// - Parameter width: the number of values of a row.
    /// - Throws: the error if it is of another kind.
    package mutating func noteUnreadable(width: Int, because error: StoreError) throws(StoreError) {
        guard error.kind == .unreadable else { throw error }
        let start = (digests.count - 1) * width
        values.removeLast(values.count - start)
        values += repeatElement(.null, count: width)
        unreadable[digests.count - 1] = error.message
    }
}
