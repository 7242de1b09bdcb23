/// The two values that a column stores for true and false (`values` in the rules).
package struct BooleanCode: Sendable, Hashable {
    /// The column's own type.
    package let type: ColumnType
    /// The stored value for true.
    package let yes: Value
    /// The stored value for false.
    package let no: Value

    /// Creates the code of a column, from two different values of its type.
    package init(type: ColumnType, yes: Value, no: Value) {
        self.type = type
        self.yes = yes
        self.no = no
    }

    /// Returns the stored value of a boolean; NULL stays NULL.
    package func stored(_ value: Value) -> Value {
        if case .boolean(let flag) = value { flag ? yes : no } else { value }
    }

    /// Returns the boolean of a stored value, or nil if it is neither of the two; NULL stays NULL.
    package func decoded(_ stored: Value) -> Value? {
        if stored.isNull { return .null }
        return stored == yes ? .boolean(true) : stored == no ? .boolean(false) : nil
    }
}
