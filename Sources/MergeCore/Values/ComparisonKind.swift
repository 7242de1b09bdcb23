/// A kind of values that SQL and the gateway compare alike, apart from collations: SQL finds every value that is equal.
package enum ComparisonKind: Sendable, Hashable {
    case boolean, integer, decimal, double, text, binary, date, dateTime, timestamp, time, uuid, inet4, inet6
}

extension ColumnType {
    /// The kind of values by which a column can tie rows to each other; nil if SQL does not find its values exactly.
    package var comparison: ComparisonKind? {
        switch self {
        case .boolean: .boolean
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

    /// True for dates, times and moments.
    package var isDateOrTime: Bool {
        switch self {
        case .date, .dateTime, .timestamp, .time: true
        default: false
        }
    }
}
