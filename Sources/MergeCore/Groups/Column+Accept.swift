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
}
