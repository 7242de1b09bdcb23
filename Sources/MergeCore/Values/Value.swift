/// The value of one column of one row, in the canonical form in which values are compared (Protocol.md, section 2).
///
/// Two values of one column are equal if the column would store the same thing. What a case means is settled by the
/// `ColumnType` beside it; a value is only ever made by that type, so it always fits its column.
package enum Value: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// All integer columns, BIT(n) and YEAR; wide enough for signed and unsigned 64 bits alike.
    case integer(Int128)
    case decimal(ExactDecimal)
    case float(Float)
    case double(Double)
    /// CHAR, VARCHAR, TEXT, ENUM, UUID, INET.
    case text(ExactText)
    /// A SET column or a delimited text, in the column's own order.
    case members([ExactText])
    case date(CalendarDate)
    /// DATETIME as it stands; TIMESTAMP in UTC.
    case dateTime(DateTime)
    case time(TimeSpan)
    case bytes([UInt8])
    case json(JSONTree)
    case address(NetworkAddress)

    /// True for NULL alone.
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// Legacy contents that are accepted as a base or an echo but never as an edit: the ENUM error value and dates
    /// with a zero month or day (the zero date itself may be written).
    package var isLegacyOnly: Bool {
        switch self {
        case .date(let date): date.isIncomplete && !date.isZero
        case .dateTime(let moment): moment.date.isIncomplete && !(moment.date.isZero && moment.microseconds == 0)
        default: false
        }
    }
}
