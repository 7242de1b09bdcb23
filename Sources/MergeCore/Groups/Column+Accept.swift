extension Column {
    /// Converts a client's value to the value that the column would store.
    ///
    /// The result may be of another type, if the column can contain it. So a client can send everything back that it
    /// has read, whatever the row contains by now. `ColumnType.forbidsWriting` decides if it may be written.
    ///
    /// - Throws: `ValueProblem` if the column cannot store the value exactly.
    package func accept(_ scalar: Scalar) throws(ValueProblem) -> Value {
        // In a JSON column that cannot be NULL, null is JSON's own null.
        if scalar == .null, !isNullable, case .json = type { return .json(.null) }
        let value = try foreign.accept(scalar, as: type)
        guard !value.isNull || isNullable else { throw ValueProblem("is null, which the column cannot be") }
        return value
    }

    /// Returns a key's value in the type of this column, or unchanged if the column cannot store it.
    package func converted(_ value: Value) -> Value {
        guard type.isForeign(value) else { return value }
        let text: String
        switch value {
        case .integer(let number): text = String(number)
        case .decimal(let number): text = number.text
        case .text(let stored): text = stored.string
        default: return value
        }
        return (try? type.accept(.text(text))) ?? value
    }
}
