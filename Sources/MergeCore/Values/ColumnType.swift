/// The type of a column, with the limits that decide which values it can store exactly.
package enum ColumnType: Sendable, Hashable {
    /// BIT(1), or an integer column that the rules declare as boolean.
    case boolean
    /// A boolean that the column stores as two values of another type.
    indirect case coded(BooleanCode)
    case integer(ClosedRange<Int128>)
    /// BIT(n), 2 to 64 bits.
    case bit(Int)
    case year
    case decimal(precision: Int, scale: Int, isUnsigned: Bool)
    /// A NUMERIC column of SQLite, for decimals that a 64-bit integer or a double stores exactly.
    ///
    /// The declared scale limits new values. Existing rows may have more digits.
    case numeric(scale: Int?)
    /// FLOAT, with its declared digits if any.
    case float(isUnsigned: Bool, FixedDigits? = nil)
    /// DOUBLE, with its declared digits if any.
    case double(isUnsigned: Bool, FixedDigits? = nil)
    case text(TextType)
    case enumeration([ExactText])
    case set([ExactText])
    /// A text column that contains members with separators.
    case delimitedSet(separator: String, TextType)
    case date
    /// DATETIME with 0 to 6 digits of fraction.
    case dateTime(fraction: Int)
    /// TIMESTAMP with 0 to 6 digits of fraction, within the server's range.
    case timestamp(fraction: Int, ClosedRange<DateTime>?)
    case time(fraction: Int)
    /// BINARY(n), padded with zero bytes.
    case binary(Int)
    /// VARBINARY and the BLOB types, with their maximum length in bytes.
    case bytes(maximum: Int?)
    case uuid
    case inet4
    case inet6
    /// A spatial column, which is read-only, as well-known text (OGC 06-103r4 section 7).
    case wellKnownText
    /// JSON in a column of its own type or in a text column.
    case json(TextType)

    /// The name in `GET /v1/rules` and in messages.
    package var name: String { typeName.rawValue }

    package var typeName: TypeName {
        switch self {
        case .boolean, .coded: .boolean
        case .integer: .integer
        case .bit: .bit
        case .year: .year
        case .decimal, .numeric: .decimal
        case .float: .float
        case .double: .double
        case .text: .text
        case .enumeration: .enumeration
        case .set, .delimitedSet: .set
        case .date: .date
        case .dateTime: .dateTime
        case .timestamp: .timestamp
        case .time: .time
        case .binary, .bytes: .binary
        case .uuid: .uuid
        case .inet4: .inet4
        case .inet6: .inet6
        case .wellKnownText: .geometry
        case .json: .json
        }
    }
}
