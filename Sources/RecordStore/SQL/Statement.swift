package import MergeCore

/// SQL text and its values, which are never part of the text.
package struct Statement: Sendable, Hashable {
    /// The text, with a `?` for each value.
    package let sql: String
    /// The values in the order of their placeholders.
    package let binds: [Bind]
    /// The columns that a SELECT returns.
    package let columns: [Column]
    /// The highest number of rows that a write by key may meet; nil if there is no limit.
    package let mostRows: Int?
    /// The key of the row digests; nil if the rows come without digests.
    ///
    /// With a key, each row contains its digest after its values, as a whole number.
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

    /// Returns the same statement with row digests.
    package func hashing(under key: SipHash.Key?) -> Statement {
        Statement(sql: sql, binds: binds, columns: columns, mostRows: mostRows, hashKey: key)
    }

    /// Checks how many rows a write met.
    ///
    /// - Throws: `StoreError` of the kind `unreadable` if they are more than `mostRows`, because the key is not unique.
    ///   This is final, since the same push would meet the same rows.
    package func check(rowsMet count: Int) throws(StoreError) {
        guard let mostRows, count > mostRows else { return }
        throw StoreError(
            .unreadable,
            "a write to \(mostRows) rows met \(count), so their key is no longer unique; nothing is kept "
                + "of it")
    }
}
