import MergeCore

/// Decodes dates and times.
///
/// Source: MariaDB, sql/compat56.cc, my_datetime_packed_from_binary and my_time_packed_from_binary.
extension WatchedColumn {
    func time(_ bytes: ArraySlice<UInt8>, _ type: BinlogColumnType) -> Value? {
        switch (type, column.type) {
        case (.date, .date):
            let packed = bytes.littleEndian
            return CalendarDate(year: Int(packed >> 9), month: Int(packed >> 5 & 15), day: Int(packed & 31))
                .map { .date($0) }
        case (.dateTime, .dateTime): return Self.dateTime(bytes).map { .dateTime($0) }
        case (.oldDateTime, .dateTime): return Self.dateTime(digits: bytes.littleEndian).map { .dateTime($0) }
        case (.timestamp, .timestamp):
            let fraction = Self.microseconds(bytes.dropFirst(4))
            return Self.moment(seconds: bytes.prefix(4).bigEndian, fraction).map { .dateTime($0) }
        case (.oldTimestamp, .timestamp): return Self.moment(seconds: bytes.littleEndian, 0).map { .dateTime($0) }
        case (.time, .time): return Self.span(bytes).map { .time($0) }
        case (.oldTime, .time): return Self.span(digits: bytes.littleEndian).map { .time($0) }
        default: return nil
        }
    }

    /// A fraction of one to three bytes, in hundredths, ten-thousandths or millionths.
    private static func microseconds(_ bytes: ArraySlice<UInt8>) -> Int { microseconds(bytes.bigEndian, bytes.count) }

    private static func microseconds(_ fraction: UInt64, _ width: Int) -> Int {
        Int(fraction) * [1, 10_000, 100, 1][min(width, 3)]
    }

    private static func dateTime(_ bytes: ArraySlice<UInt8>) -> DateTime? {
        let packed = bytes.prefix(5).bigEndian
        guard packed >= 0x80_0000_0000 else { return nil }
        let (days, time) = ((packed - 0x80_0000_0000) >> 17, packed & 0x1_FFFF)
        let date = CalendarDate(year: Int(days >> 5) / 13, month: Int(days >> 5) % 13, day: Int(days & 31))
        return date.flatMap {
            DateTime(
                date: $0, hour: Int(time >> 12), minute: Int(time >> 6 & 63), second: Int(time & 63),
                microsecond: microseconds(bytes.dropFirst(5)))
        }
    }

    /// Reads a number such as 20261126103159.
    private static func dateTime(digits: UInt64) -> DateTime? {
        let (date, time) = (Int(clamping: digits / 1_000_000), Int(digits % 1_000_000))
        return CalendarDate(year: date / 10_000, month: date / 100 % 100, day: date % 100).flatMap {
            DateTime(
                date: $0, hour: time / 10_000, minute: time / 100 % 100, second: time % 100, microsecond: 0)
        }
    }

    /// Converts seconds since 1970, which are 0 for the zero date.
    private static func moment(seconds: UInt64, _ microsecond: Int) -> DateTime? {
        if seconds == 0, microsecond == 0 { return DateTime(date: .zero, microseconds: 0) }
        let (day, second) = (Int(seconds / 86_400), Int64(seconds % 86_400))
        return CalendarDate(dayNumber: day).flatMap {
            DateTime(date: $0, microseconds: second * 1_000_000 + Int64(microsecond))
        }
    }

    private static func span(_ bytes: ArraySlice<UInt8>) -> TimeSpan? {
        let width = bytes.count - 3
        guard (0...3).contains(width) else { return nil }
        let number = Int64(bytes.bigEndian) - 0x80_0000 << Int64(width * 8)
        let (time, fraction) = (
            number.magnitude >> UInt64(width * 8), number.magnitude & ((1 << UInt64(width * 8)) - 1)
        )
        return span(
            hours: Int(time >> 12 & 0x3FF), minutes: Int(time >> 6 & 63), seconds: Int(time & 63),
            microseconds(fraction, width), isNegative: number < 0)
    }

    /// Reads a signed number of three bytes such as -103159.
    private static func span(digits: UInt64) -> TimeSpan? {
        let number = digits & 0x80_0000 == 0 ? Int(digits) : Int(digits) - 0x100_0000
        let time = abs(number)
        return span(
            hours: time / 10_000, minutes: time / 100 % 100, seconds: time % 100, 0, isNegative: number < 0)
    }

    private static func span(
        hours: Int, minutes: Int, seconds: Int, _ microseconds: Int, isNegative: Bool
    ) -> TimeSpan? {
        let total = Int64(hours * 3_600 + minutes * 60 + seconds) * 1_000_000 + Int64(microseconds)
        return TimeSpan(microseconds: isNegative ? -total : total)
    }
}
