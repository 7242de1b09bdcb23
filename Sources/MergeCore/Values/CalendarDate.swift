/// A day of the proleptic Gregorian calendar, or an incomplete date of an old database.
///
/// Examples of incomplete dates are `0000-00-00`, `2020-00-00` and `2020-05-00`.
package struct CalendarDate: Sendable, Hashable, Comparable {
    /// The year, 0 to 9999.
    package let year: UInt16
    /// The month, 1 to 12, or 0 in an incomplete date.
    package let month: UInt8
    /// The day of the month, 1 to 31, or 0 in an incomplete date.
    package let day: UInt8

    /// The date `0000-00-00`, MariaDB's value for a missing date.
    package static let zero: CalendarDate = CalendarDate(year: 0, month: 0, day: 0)

    private init(year: UInt16, month: UInt8, day: UInt8) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates a date, or returns nil unless the year is 0 to 9999 and month and day exist or are zero.
    package init?(year: Int, month: Int, day: Int) {
        guard (0...9_999).contains(year), (0...12).contains(month), day >= 0 else { return nil }
        guard day <= (month == 0 ? 31 : Self.days(inMonth: month, year: year)) else { return nil }
        self.init(year: UInt16(year), month: UInt8(month), day: UInt8(day))
    }

    /// True for `0000-00-00` only.
    package var isZero: Bool { year == 0 && month == 0 && day == 0 }

    /// True if month or day is zero.
    package var isIncomplete: Bool { month == 0 || day == 0 }

    /// Returns the number of days of a month, 1 to 12.
    package static func days(inMonth month: Int, year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        default: 31
        }
    }

    /// The days since 1970-01-01.
    ///
    /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
    package var dayNumber: Int {
        let y = Int(year) - (month <= 2 ? 1 : 0)
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let m = Int(month)
        let dayOfYear = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + Int(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// Creates the date of a day number, or returns nil outside the years 0 to 9999.
    ///
    /// Source: as `dayNumber`, civil_from_days.
    package init?(dayNumber: Int) {
        let z = dayNumber + 719_468
        let era = (z >= 0 ? z : z - 146_096) / 146_097
        let dayOfEra = z - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        self.init(year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month: month, day: day)
    }

    package static func < (a: CalendarDate, b: CalendarDate) -> Bool {
        (a.year, a.month, a.day) < (b.year, b.month, b.day)
    }
}
