public import Foundation

/// A date or time as the gateway sends it, so that dates such as `0000-00-00` survive.
public protocol WireText: RawRepresentable, Codable, Hashable, Comparable, Sendable, CustomStringConvertible
where RawValue == String {
    /// Takes a text as it is.
    init(rawValue: String)
}

extension WireText {
    /// The text.
    public var description: String { rawValue }

    /// Returns true if a text is before another one.
    public static func < (a: Self, b: Self) -> Bool { a.rawValue < b.rawValue }
}

/// A day such as `2026-11-20`.
public struct CalendarDate: WireText {
    /// The text.
    public let rawValue: String

    /// Takes a text as it is.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The day of a moment in a time zone.
    public init(_ date: Date, in timeZone: TimeZone = .current) {
        rawValue = TimeParts(date, in: timeZone).day
    }

    /// Returns the beginning of the day; nil for a date that no calendar has.
    public func date(in timeZone: TimeZone = .current) -> Date? { TimeParts(rawValue)?.date(in: timeZone) }
}

/// A time without a time zone such as `2026-11-20T10:00:00`.
public struct LocalDateTime: WireText {
    /// The text.
    public let rawValue: String

    /// Takes a text as it is.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The time in a time zone, with `fraction` digits after the seconds.
    public init(_ date: Date, in timeZone: TimeZone = .current, fraction: Int = 0) {
        let parts = TimeParts(date, in: timeZone)
        rawValue = "\(parts.day)T\(parts.time(fraction: fraction))"
    }

    /// Returns the moment in a time zone; nil for a date that no calendar has.
    public func date(in timeZone: TimeZone = .current) -> Date? { TimeParts(rawValue)?.date(in: timeZone) }
}

/// A moment such as `2026-11-20T10:00:00Z`, in UTC.
public struct Timestamp: WireText {
    /// The text.
    public let rawValue: String

    /// Takes a text as it is.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of a moment, with `fraction` digits after the seconds.
    public init(_ date: Date, fraction: Int = 0) {
        let parts = TimeParts(date, in: .gmt)
        rawValue = "\(parts.day)T\(parts.time(fraction: fraction))Z"
    }

    /// The moment; nil for a date that no calendar has.
    public var date: Date? { TimeParts(rawValue)?.date(in: .gmt) }
}

/// A time such as `10:00:00`, from `-838:59:59` to `838:59:59`.
public struct TimeSpan: WireText {
    /// The text.
    public let rawValue: String

    /// Takes a text as it is.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text of a duration, in whole seconds.
    public init(_ duration: Duration) {
        let seconds = duration.components.seconds
        let (hours, rest) = seconds.magnitude.quotientAndRemainder(dividingBy: 3_600)
        let sign = seconds < 0 ? "-" : ""
        rawValue = "\(sign)\(Int(hours).padded(2)):\(Int(rest / 60).padded(2)):\(Int(rest % 60).padded(2))"
    }

    /// The duration; nil for another text.
    public var duration: Duration? {
        let isNegative = rawValue.hasPrefix("-")
        let parts = rawValue.drop { $0 == "-" }.split(separator: ":")
        guard parts.count == 3, let hours = Int(parts[0]), let minutes = Int(parts[1]), let seconds = Double(parts[2])
        else { return nil }
        let sum = Duration.seconds(hours * 3_600 + minutes * 60) + .microseconds(Int((seconds * 1_000_000).rounded()))
        return isNegative ? .zero - sum : sum
    }

    /// Returns true if a span is shorter than another one.
    public static func < (a: Self, b: Self) -> Bool { (a.duration ?? .zero) < (b.duration ?? .zero) }
}

/// The parts of a date and a time of day.
private struct TimeParts {
    private var components: DateComponents

    init(_ date: Date, in timeZone: TimeZone) {
        components = Self.calendar(timeZone).dateComponents(
            [.year, .month, .day, .hour, .minute, .second, .nanosecond], from: date)
    }

    /// Reads `2026-11-20`, or the same with `T10:00:00`, a fraction and `Z`.
    init?(_ text: String) {
        let halves = text.drop(last: "Z").split(separator: "T", omittingEmptySubsequences: false)
        let days = halves[0].split(separator: "-").map { Int($0) }
        guard days.count == 3, let year = days[0], let month = days[1], let day = days[2] else { return nil }
        components = DateComponents(year: year, month: month, day: day)
        guard halves.count == 2 else { return }
        let times = halves[1].split(separator: ":")
        guard times.count == 3, let hour = Int(times[0]), let minute = Int(times[1]) else { return nil }
        let seconds = times[2].split(separator: ".")
        let fraction = seconds.count == 2 ? seconds[1].padding(toLength: 9, withPad: "0", startingAt: 0) : "0"
        guard let second = Int(seconds[0]), let nanosecond = Int(fraction) else { return nil }
        (components.hour, components.minute) = (hour, minute)
        (components.second, components.nanosecond) = (second, nanosecond)
    }

    func date(in timeZone: TimeZone) -> Date? {
        let calendar = Self.calendar(timeZone)
        var whole = components
        whole.calendar = calendar
        whole.timeZone = timeZone
        return whole.isValidDate(in: calendar) ? calendar.date(from: whole) : nil
    }

    var day: String {
        "\((components.year ?? 0).padded(4))-\((components.month ?? 0).padded(2))-\((components.day ?? 0).padded(2))"
    }

    func time(fraction: Int) -> String {
        let (hour, minute, second) = (components.hour ?? 0, components.minute ?? 0, components.second ?? 0)
        let digits = (components.nanosecond ?? 0).padded(9).prefix(min(max(fraction, 0), 6))
        let text = "\(hour.padded(2)):\(minute.padded(2)):\(second.padded(2))"
        return digits.isEmpty ? text : "\(text).\(digits)"
    }

    private static func calendar(_ timeZone: TimeZone) -> Calendar {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = timeZone
        return calendar
    }
}

extension Int {
    fileprivate func padded(_ length: Int) -> String {
        let digits = String(self)
        return String(repeating: "0", count: Swift.max(0, length - digits.count)) + digits
    }
}

extension String {
    fileprivate func drop(last ending: Character) -> Substring { last == ending ? dropLast() : self[...] }
}
