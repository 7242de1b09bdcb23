extension Column {
    /// Converts what a client sent to the value that the column would store.
    ///
    /// Whether it may be written is asked of `ColumnType.forbidsWriting`: a loose column can hold values that are not
    /// of its type.
    /// - Throws: `ValueProblem` where the column cannot hold it exactly, or not at all.
    package func accept(_ scalar: Scalar) throws(ValueProblem) -> Value {
        // In a JSON column that cannot be NULL, null is JSON's own.
        if scalar == .null, !isNullable, case .json = type { return .json(.null) }
        let value = try isLoose ? type.acceptLoosely(scalar) : type.accept(scalar)
        guard !value.isNull || isNullable else { throw ValueProblem("is null, which the column cannot be") }
        return value
    }

    /// Returns the value of a key as this column stores it, which may be of another type than the key; the value itself
    /// if the column cannot store it, which the database then refuses.
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
