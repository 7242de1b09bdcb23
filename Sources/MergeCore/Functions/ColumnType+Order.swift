extension ColumnType {
    /// Tells whether any two values of the column have an order, so that there is a greater and a lesser one.
    package var isOrdered: Bool {
        switch self {
        case .boolean, .integer, .bit, .year, .decimal, .numeric, .float, .double, .text, .enumeration, .date,
            .dateTime,
            .timestamp, .time, .binary, .bytes, .uuid, .inet4, .inet6:
            true
        case .set, .delimitedSet, .wellKnownText, .json: false
        }
    }

    /// Tells whether the column's values can be added up; flags and bit patterns are no amounts.
    package var isNumber: Bool {
        switch self {
        case .integer, .year, .decimal, .numeric, .float, .double: true
        default: false
        }
    }
}
