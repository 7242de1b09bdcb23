/// Merges amounts: both sides' changes of a number add up.
///
/// Laws, wherever the column holds the results:
/// - `merge(b, e, b)` is `e`, and `merge(b, b, c)` is `c`;
/// - with edited and current swapped the result is the same;
/// - the changes of any number of clients come to the same number in any order.
package enum AddMerge {
    /// `current + (edited − base)`, exact; nil where the column is no number or cannot hold the result.
    ///
    /// FLOAT and DOUBLE are added by their shortest decimal forms, as people read and write them: 0.1 and 0.2 make 0.3.
    /// A sum that has no such form in the column's precision is refused and not rounded.
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
