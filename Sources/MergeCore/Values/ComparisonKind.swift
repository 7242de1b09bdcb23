/// A kind of values for which SQL finds every equal value, apart from differences of collations.
package enum ComparisonKind: Sendable, Hashable {
    case boolean, integer, decimal, double, text, binary, date, dateTime, timestamp, time, uuid, inet4, inet6
}

extension ColumnType {
    /// The kind by which a column can link rows, or nil if SQL does not find its values exactly.
    package var comparison: ComparisonKind? {
        switch self {
        case .boolean, .coded: .boolean
        case .integer, .bit, .year: .integer
        case .decimal, .numeric: .decimal
        case .double: .double
        case .text, .enumeration: .text
        case .binary, .bytes: .binary
        case .date: .date
        case .dateTime: .dateTime
        case .timestamp: .timestamp
        case .time: .time
        case .uuid: .uuid
        case .inet4: .inet4
        case .inet6: .inet6
        case .float, .set, .delimitedSet, .wellKnownText, .json: nil
        }
    }

    /// True for dates and times.
    package var isDateOrTime: Bool {
        switch self {
        case .date, .dateTime, .timestamp, .time: true
        default: false
        }
    }
}
