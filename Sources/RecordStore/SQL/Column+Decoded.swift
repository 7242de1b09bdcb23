package import MergeCore

extension Column {
    /// Returns the boolean of a stored value under `values` of the rules.
    ///
    /// - Throws: `StoreError` if the value is neither of the two.
    package func decoded(_ stored: Value) throws(StoreError) -> Value {
        guard case .coded(let code) = type else { return stored }
        guard let value = code.decoded(stored) else {
            throw StoreError(
                .unreadable,
                "column “\(name)” contains a value that is neither of its “values” in the rules; correct the row or the "
                    + "rules")
        }
        return value
    }
}
