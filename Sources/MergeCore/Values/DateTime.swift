/// A date with a time of day to the microsecond, without a time zone.
package struct DateTime: Sendable, Hashable, Comparable {
    /// The day.
    package let date: CalendarDate
    /// Microseconds since midnight, 0 to 86,399,999,999.
    package let microseconds: Int64

    /// The microseconds of a day without leap seconds.
    package static let microsecondsPerDay: Int64 = 86_400_000_000

    /// Creates a value, or returns nil if the time is outside a day.
    package init?(date: CalendarDate, microseconds: Int64) {
        guard (0..<Self.microsecondsPerDay).contains(microseconds) else { return nil }
        self.date = date
        self.microseconds = microseconds
    }

    /// Creates a value, or returns nil if a part is out of range.
    ///
    /// A leap second (60) is out of range, because no column can store it.
    package init?(date: CalendarDate, hour: Int, minute: Int, second: Int, microsecond: Int) {
        guard (0..<24).contains(hour), (0..<60).contains(minute), (0..<60).contains(second),
            (0..<1_000_000).contains(microsecond)
        else { return nil }
        self.date = date
        microseconds = Int64(hour * 3_600 + minute * 60 + second) * 1_000_000 + Int64(microsecond)
    }

    /// The hour, 0 to 23.
    package var hour: Int { Int(microseconds / 3_600_000_000) }
    /// The minute, 0 to 59.
    package var minute: Int { Int(microseconds / 60_000_000 % 60) }
    /// The second, 0 to 59.
    package var second: Int { Int(microseconds / 1_000_000 % 60) }
    /// The microseconds of the second, 0 to 999,999.
    package var microsecond: Int { Int(microseconds % 1_000_000) }

    /// Converts a time at an offset of `minutes` east to UTC, or returns nil outside the years 0 to 9999.
    package func subtracting(offsetMinutes minutes: Int) -> DateTime? {
        guard !date.isIncomplete else { return minutes == 0 ? self : nil }
        let total = microseconds - Int64(minutes) * 60_000_000
        let days = total.dividedFloor(by: Self.microsecondsPerDay)
        guard let moved = CalendarDate(dayNumber: date.dayNumber + Int(days)) else { return nil }
        return DateTime(date: moved, microseconds: total - days * Self.microsecondsPerDay)
    }

    /// Converts seconds and microseconds since 1970 to UTC, or returns nil outside the years 0 to 9999.
    package init?(secondsSince1970 seconds: Int, microsecond: Int) {
        let day = Int64(seconds).dividedFloor(by: 86_400)
        guard let date = CalendarDate(dayNumber: Int(day)) else { return nil }
        self.init(date: date, microseconds: (Int64(seconds) - day * 86_400) * 1_000_000 + Int64(microsecond))
    }

    /// Microseconds since 1970, for a complete date in UTC.
    package var microsecondsSince1970: Int { date.dayNumber * Int(Self.microsecondsPerDay) + Int(microseconds) }

    package static func < (a: DateTime, b: DateTime) -> Bool {
        (a.date, a.microseconds) < (b.date, b.microseconds)
    }
}

extension Int64 {
    /// Divides and rounds towards minus infinity, so that a time before midnight belongs to the previous day.
    fileprivate func dividedFloor(by divisor: Int64) -> Int64 {
        let quotient = self / divisor
        return self % divisor < 0 ? quotient - 1 : quotient
    }
}
