import MergeCore

extension Bind {
    /// The stored text of values that travel as text; nil for numbers, bytes and NULL.
    package var storedText: String? {
        switch value {
        case .text(let text): text.string
        case .decimal(let number): number.text
        case .members(let members):
            members.map(\.string).joined(separator: Self.separator(type))
        case .date(let date): date.text
        case .dateTime(let moment):
            moment.text(separator: " ", fraction: Self.fraction(type, moment.microsecond))
        case .time(let span): span.text(fraction: Self.fraction(type, span.microsecond))
        case .json(let tree): tree.text
        case .address(let address): address.text
        case .null, .boolean, .integer, .float, .double, .bytes: nil
        }
    }

    private static func separator(_ type: ColumnType) -> String {
        if case .delimitedSet(let separator, _) = type { separator } else { "," }
    }

    private static func fraction(_ type: ColumnType, _ microsecond: Int) -> Int {
        switch type {
        case .dateTime(let digits), .time(let digits), .timestamp(let digits, _): digits
        default: microsecond == 0 ? 0 : 6
        }
    }
}
