package import MergeCore

/// SQL with its values beside it, never inside.
package struct Statement: Sendable, Hashable {
    /// The text, with a `?` for each value.
    package let sql: String
    /// The values in the order of their marks.
    package let binds: [Bind]
    /// The columns that a SELECT returns.
    package let columns: [Column]
    /// The most rows that a write may meet, since it names them by their key; nil where their number is open.
    package let mostRows: Int?
    /// Under which each row comes with its digest behind its values, as a whole number; nil for the values alone.
    package let hashKey: SipHash.Key?

    /// Pairs a text with its values.
    package init(sql: String, binds: [Bind], columns: [Column] = [], mostRows: Int? = nil, hashKey: SipHash.Key? = nil)
    {
        self.hashKey = hashKey
        self.sql = sql
        self.binds = binds
        self.columns = columns
        self.mostRows = mostRows
    }

    /// Returns the same statement, whose rows come with their digests.
    package func hashing(under key: SipHash.Key?) -> Statement {
        Statement(sql: sql, binds: binds, columns: columns, mostRows: mostRows, hashKey: key)
    }

    /// Checks how many rows a write has met.
    ///
    /// - Throws: `StoreError` of the kind `unreadable` if they are more than it names, because the key of the rules is not
    ///   unique for the database. The same push meets the same rows again, so it is refused for good.
    package func check(rowsMet count: Int) throws(StoreError) {
        guard let mostRows, count > mostRows else { return }
        throw StoreError(
            .unreadable,
            "a write to \(mostRows) rows met \(count), so the key that names them is not unique any more; nothing is kept "
                + "of it")
    }
}
