/// The stored form of values, which all types of one column have in common.
extension ColumnType {
    /// The stored text of values that travel as text; nil for numbers, bytes and NULL.
    package func storedText(of value: Value) -> String? {
        switch value {
        case .text(let text): text.string
        case .decimal(let number): number.text
        case .members(let members): members.map(\.string).joined(separator: separator)
        case .date(let date): date.text
        case .dateTime(let moment): moment.text(separator: " ", fraction: fraction(of: moment.microsecond))
        case .time(let span): span.text(fraction: fraction(of: span.microsecond))
        case .json(let tree): tree.text
        case .address(let address): address.text
        case .null, .boolean, .integer, .float, .double, .bytes: nil
        }
    }

    /// Decodes a time in the form of SQLite's own functions and most programs; nil for other forms, which stay text.
    package func storedTime(_ text: String) -> Value? {
        if case .timestamp(let digits, _) = self {
            var reader = TimeReader(text)
            guard let (moment, fraction) = reader.dateTime(), fraction <= digits, reader.isAtEnd || reader.take("Z"),
                reader.isAtEnd
            else { return nil }
            return .dateTime(moment)
        }
        return try? accept(.text(text))
    }

    private var separator: String {
        if case .delimitedSet(let separator, _) = self { separator } else { "," }
    }

    private func fraction(of microsecond: Int) -> Int {
        switch self {
        case .dateTime(let digits), .time(let digits), .timestamp(let digits, _): digits
        default: microsecond == 0 ? 0 : 6
        }
    }
}
