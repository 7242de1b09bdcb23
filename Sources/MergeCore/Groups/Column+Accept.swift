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

    /// True if a client that sends the value back, as a base or unchanged, sends the same value.
    ///
    /// It is false for some values that are not of the column's type: bytes come back as a text, a whole REAL number as
    /// an integer, a text in a column of bytes as the bytes that it may spell in base64.
    package func survivesEcho(_ value: Value) -> Bool {
        guard type.isForeign(value) else { return true }
        let scalar: Scalar
        switch (value, type) {
        case (.text, .binary), (.text, .bytes): return false
        case (.text(let text), _): scalar = .text(text.string)
        case (.integer(let number), _):
            // Larger integers are texts on the wire.
            guard number.magnitude < 1 << 53, let small = Int64(exactly: number) else { return false }
            scalar = .integer(small)
        case (.double(let double), _):
            guard let number = ExactDecimal(shortest: double), number.fractionDigits > 0 else { return false }
            scalar = .number(number)
        default: return false
        }
        return (try? accept(scalar)) == value
    }

    /// Returns the value of a key as this column stores it, which may be of another type than the key; the value itself
    /// if the column cannot store it, which the database then refuses.
    func converted(_ value: Value) -> Value {
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
