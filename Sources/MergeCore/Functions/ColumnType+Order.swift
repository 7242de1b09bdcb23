extension ColumnType {
    /// True if any two values of the column can be compared as greater and lesser.
    package var isOrdered: Bool {
        switch self {
        case .boolean, .coded, .integer, .bit, .year, .decimal, .numeric, .float, .double, .text, .enumeration, .date,
            .dateTime,
            .timestamp, .time, .binary, .bytes, .uuid, .inet4, .inet6:
            true
        case .set, .delimitedSet, .wellKnownText, .json: false
        }
    }

    /// True if the column's values can be added.
    ///
    /// Booleans and bit patterns cannot.
    package var isNumber: Bool {
        switch self {
        case .integer, .year, .decimal, .numeric, .float, .double: true
        default: false
        }
    }
}
