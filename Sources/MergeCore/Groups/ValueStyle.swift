/// The features of a column's type that the text of a value depends on.
package struct ValueStyle: Sendable, Hashable {
    /// Digits behind the point of a decimal.
    package let scale: Int
    /// Digits behind the point of a second.
    package let fractionDigits: Int
    /// A moment in UTC, whose text ends with `Z`.
    package let isUTC: Bool

    /// Takes the features of a type.
    package init(_ type: ColumnType) {
        switch type {
        case .decimal(_, let scale, _): self.scale = scale
        case .numeric(let scale): self.scale = scale ?? 0
        default: scale = 0
        }
        switch type {
        case .dateTime(let digits), .time(let digits), .timestamp(let digits, _): fractionDigits = digits
        default: fractionDigits = 0
        }
        isUTC = if case .timestamp = type { true } else { false }
    }
}
