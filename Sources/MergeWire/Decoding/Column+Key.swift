import MergeCore

extension Column {
    /// Returns the value of a key column; an integer is also the key of a text column that contains its digits.
    ///
    /// - Throws: `ValueProblem` if the column cannot store the value, or if it is null.
    func keyValue(_ scalar: Scalar) throws(ValueProblem) -> Value {
        var scalar = scalar
        if case .text = type, case .integer(let number) = scalar { scalar = .text(String(number)) }
        let value = try type.accept(scalar)
        guard !value.isNull else { throw ValueProblem("is null, which no key is") }
        return value
    }
}
