extension ColumnType {
    func acceptTime(_ scalar: Scalar) throws(ValueProblem) -> Value {
        let text = try scalar.string()
        var reader = TimeReader(text)
        switch self {
        case .dateTime(let digits):
            guard let (moment, fraction) = reader.dateTime() else {
                throw ValueProblem("is not a date and time such as 2026-11-20T10:00:00")
            }
            guard reader.isAtEnd else {
                throw ValueProblem("has a time zone or more after the time; a DATETIME has none")
            }
            return .dateTime(try Self.fits(moment, sent: fraction, held: digits))
        case .timestamp(let digits, let range):
            guard let (local, fraction) = reader.dateTime() else {
                throw ValueProblem("is not a date and time such as 2026-11-20T10:00:00Z")
            }
            guard let offset = reader.offset(), reader.isAtEnd else {
                throw ValueProblem("needs a UTC offset, such as Z or +01:00")
            }
            guard let moment = local.subtracting(offsetMinutes: offset) else {
                throw ValueProblem("is outside the column's range")
            }
            if let range, !range.contains(moment), !(moment.date.isZero && moment.microseconds == 0) {
                throw ValueProblem("is outside the range of a TIMESTAMP, 1970 to 2038")
            }
            return .dateTime(try Self.fits(moment, sent: fraction, held: digits))
        case .time(let digits):
            return .time(try Self.span(&reader, digits: digits))
        default:
            guard let date = reader.date(), reader.isAtEnd else {
                throw ValueProblem("is not a date such as 2026-11-20")
            }
            return .date(date)
        }
    }

    private static func fits<T>(_ value: T, sent: Int, held: Int) throws(ValueProblem) -> T {
        guard sent <= held else { throw ValueProblem("has more than the column's \(held) digits of a second") }
        return value
    }

    private static func span(_ reader: inout TimeReader, digits: Int) throws(ValueProblem) -> TimeSpan {
        let negative = reader.take("-")
        guard let (hours, width) = reader.number(), (2...3).contains(width), reader.take(":"),
            let minute = reader.digits(2), minute < 60, reader.take(":"), let second = reader.digits(2), second < 60,
            let (microseconds, fraction) = reader.fraction(), reader.isAtEnd
        else { throw ValueProblem("is not a time such as 10:00:00") }
        let total = Int64(hours * 3_600 + minute * 60 + second) * 1_000_000 + Int64(microseconds)
        // With a fraction the server's limit is 838:59:59.999999.
        guard let span = TimeSpan(microseconds: negative ? -total : total) else {
            throw ValueProblem("is outside -838:59:59 to 838:59:59")
        }
        return try fits(span, sent: fraction, held: digits)
    }
}
