/// The value of one column of one row, in its canonical form (Protocol.md, section 2).
///
/// Two values of one column are equal if the column would store the same thing. The column's `ColumnType` determines
/// the meaning of a case. A loose column may contain a value of another type (`ColumnType.isForeign`).
package enum Value: Sendable, Hashable {
    case null
    case boolean(Bool)
    /// All integer columns, BIT(n) and YEAR: signed and unsigned 64 bits.
    case integer(Int128)
    case decimal(ExactDecimal)
    case float(Float)
    case double(Double)
    /// CHAR, VARCHAR, TEXT, ENUM, UUID and well-known text.
    case text(ExactText)
    /// A SET column or a delimited text, in the column's order.
    case members([ExactText])
    case date(CalendarDate)
    /// A DATETIME unchanged, a TIMESTAMP in UTC.
    case dateTime(DateTime)
    case time(TimeSpan)
    case bytes([UInt8])
    case json(JSONTree)
    case address(NetworkAddress)

    /// True for NULL only.
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// True for a date with a zero month or day, which may be a base or an echo but never an edit.
    ///
    /// The zero date itself may be written.
    package var isLegacyOnly: Bool {
        switch self {
        case .date(let date): date.isIncomplete && !date.isZero
        case .dateTime(let moment): moment.date.isIncomplete && !(moment.date.isZero && moment.microseconds == 0)
        default: false
        }
    }
}
