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
}
