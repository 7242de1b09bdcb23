/// Reads dates and times from text, strictly and digit by digit.
package struct TimeReader {
    private var bytes: Substring.UTF8View

    /// Begins at the start of a text.
    package init(_ text: String) {
        bytes = text[...].utf8
    }

    /// True at the end of the text.
    package var isAtEnd: Bool { bytes.isEmpty }

    /// Reads exactly `count` digits, or returns nil.
    package mutating func digits(_ count: Int) -> Int? {
        guard bytes.count >= count else { return nil }
        var value = 0
        for byte in bytes.prefix(count) {
            guard byte >= 48 && byte <= 57 else { return nil }
            value = value * 10 + Int(byte - 48)
        }
        bytes = bytes.dropFirst(count)
        return value
    }

    /// Reads a run of one to nine digits.
    package mutating func number() -> (value: Int, count: Int)? {
        let run = bytes.prefix { $0 >= 48 && $0 <= 57 }
        guard (1...9).contains(run.count), let value = digits(run.count) else { return nil }
        return (value, run.count)
    }

    /// Reads the character, or returns false and reads nothing if another one is next.
    package mutating func take(_ character: Character) -> Bool {
        guard let byte = character.asciiValue, bytes.first == byte else { return false }
        bytes = bytes.dropFirst()
        return true
    }

    /// Reads a date such as `2026-11-20`.
    package mutating func date() -> CalendarDate? {
        guard let year = digits(4), take("-"), let month = digits(2), take("-"), let day = digits(2) else { return nil }
        return CalendarDate(year: year, month: month, day: day)
    }

    /// Reads an optional fraction of a second, and counts its digits without trailing zeros.
    package mutating func fraction() -> (microseconds: Int, digits: Int)? {
        guard take(".") else { return (0, 0) }
        guard let (value, count) = number() else { return nil }
        var nanoseconds = value
        for _ in count..<9 { nanoseconds *= 10 }
        var significant = count
        var rest = value
        while significant > 0, rest % 10 == 0 {
            rest /= 10
            significant -= 1
        }
        return (nanoseconds / 1_000, significant)
    }

    /// Reads `YYYY-MM-DD`, a `T` or a space, `hh:mm:ss` and an optional fraction.
    package mutating func dateTime() -> (moment: DateTime, fractionDigits: Int)? {
        guard let date = date(), take("T") || take(" "), let hour = digits(2), take(":"), let minute = digits(2),
            take(":"), let second = digits(2), let (microseconds, count) = fraction(),
            let moment = DateTime(date: date, hour: hour, minute: minute, second: second, microsecond: microseconds)
        else { return nil }
        return (moment, count)
    }

    /// Reads `Z` or an offset such as `+01:00` or `+0100`, in minutes east.
    package mutating func offset() -> Int? {
        if take("Z") || take("z") { return 0 }
        let negative = bytes.first == UInt8(ascii: "-")
        guard take("+") || take("-"), let hours = digits(2), hours <= 23 else { return nil }
        _ = take(":")
        guard let minutes = digits(2), minutes < 60 else { return nil }
        return (negative ? -1 : 1) * (hours * 60 + minutes)
    }
}

/// Writes numbers of a fixed width into one buffer.
private struct Digits {
    private let place: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(_ place: UnsafeMutableBufferPointer<UInt8>) {
        self.place = place
    }

    mutating func put(_ byte: UInt8) {
        place[count] = byte
        count += 1
    }

    mutating func put(_ number: Int, _ width: Int) {
        var rest = number
        for index in stride(from: count + width - 1, through: count, by: -1) {
            place[index] = UInt8(48 + rest % 10)
            rest /= 10
        }
        count += width
    }
}

extension CalendarDate {
    /// `YYYY-MM-DD`.
    package var text: String {
        String(unsafeUninitializedCapacity: 10) { place in
            var digits = Digits(place)
            write(to: &digits)
            return digits.count
        }
    }

    fileprivate func write(to digits: inout Digits) {
        digits.put(Int(year), 4)
        digits.put(UInt8(ascii: "-"))
        digits.put(Int(month), 2)
        digits.put(UInt8(ascii: "-"))
        digits.put(Int(day), 2)
    }

    static func pad(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return digits.utf8.count >= width ? digits : String(repeating: "0", count: width - digits.utf8.count) + digits
    }

    static func fraction(_ microsecond: Int, digits: Int) -> String {
        digits == 0 ? "" : "." + pad(microsecond, 6).prefix(digits)
    }
}

extension DateTime {
    /// Returns `YYYY-MM-DDThh:mm:ss` with `fraction` digits of a second (0 to 6).
    package func text(separator: Unicode.Scalar, fraction: Int) -> String {
        String(unsafeUninitializedCapacity: 26) { place in
            var digits = Digits(place)
            date.write(to: &digits)
            digits.put(UInt8(ascii: separator))
            digits.put(hour, 2)
            digits.put(UInt8(ascii: ":"))
            digits.put(minute, 2)
            digits.put(UInt8(ascii: ":"))
            digits.put(second, 2)
            guard fraction > 0 else { return digits.count }
            digits.put(UInt8(ascii: "."))
            digits.put(microsecond, 6)
            return digits.count - (6 - min(fraction, 6))
        }
    }
}

extension TimeSpan {
    /// Returns `[-]hh:mm:ss` with `fraction` digits of a second; the hours have three digits if needed.
    package func text(fraction: Int) -> String {
        (isNegative ? "-" : "") + CalendarDate.pad(hours, 2) + ":" + CalendarDate.pad(minute, 2) + ":"
            + CalendarDate.pad(second, 2) + CalendarDate.fraction(microsecond, digits: fraction)
    }
}
