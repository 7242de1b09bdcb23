/// Merges numbers by adding up the changes of both sides.
///
/// Laws, if the column can store the results:
/// - `merge(b, e, b)` is `e`, and `merge(b, b, c)` is `c`;
/// - if edited and current are swapped, the result is the same;
/// - the order of the clients' changes does not matter.
package enum AddMerge {
    /// Returns the exact `current + (edited − base)`, or nil if the column is no number or cannot store the result.
    ///
    /// FLOAT and DOUBLE are added in their shortest decimal forms, so 0.1 and 0.2 make 0.3. A sum without an exact form
    /// in the column's precision is refused, not rounded.
    package static func merge(base: Value, edited: Value, current: Value, type: ColumnType) -> Value? {
        guard type.isNumber, let sum = sum(base: base, edited: edited, current: current), type.holds(sum) else {
            return nil
        }
        return sum
    }

    private static func sum(base: Value, edited: Value, current: Value) -> Value? {
        switch (base, edited, current) {
        case (.integer(let base), .integer(let edited), .integer(let current)):
            let (change, isTooMuch) = edited.subtractingReportingOverflow(base)
            let (sum, isTooLarge) = current.addingReportingOverflow(change)
            return isTooMuch || isTooLarge ? nil : .integer(sum)
        case (.decimal(let base), .decimal(let edited), .decimal(let current)):
            return .decimal(current + (edited - base))
        case (.float(let base), .float(let edited), .float(let current)):
            guard let base = ExactDecimal(shortest: base), let edited = ExactDecimal(shortest: edited),
                let current = ExactDecimal(shortest: current)
            else { return nil }
            let sum = current + (edited - base)
            guard let float = Float(sum.text), ExactDecimal(shortest: float) == sum else { return nil }
            return .float(float)
        case (.double(let base), .double(let edited), .double(let current)):
            guard let base = ExactDecimal(shortest: base), let edited = ExactDecimal(shortest: edited),
                let current = ExactDecimal(shortest: current)
            else { return nil }
            let sum = current + (edited - base)
            guard let double = Double(sum.text), ExactDecimal(shortest: double) == sum else { return nil }
            return .double(double)
        default: return nil
        }
    }
}
