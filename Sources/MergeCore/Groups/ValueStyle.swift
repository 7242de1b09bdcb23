/// The features of a column's type that determine the text of a value.
package struct ValueStyle: Sendable, Hashable {
    /// The digits after the decimal point.
    package let scale: Int
    /// The digits of a fraction of a second.
    package let fractionDigits: Int
    /// True if the text ends with `Z`.
    package let isUTC: Bool

    /// Extracts the features of a type.
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
