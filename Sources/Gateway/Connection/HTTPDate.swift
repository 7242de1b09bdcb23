import MergeCore

/// The current time for the header `Date` (RFC 9110 section 5.6.7).
enum HTTPDate {
    private static let clock = SecondText(text)
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static var now: String { clock.now }

    /// - Parameter second: seconds since 1970, which began on a Thursday.
    @Sendable static func text(_ second: Int) -> String {
        let day = second / 86_400
        // Fails only after the year 9999.
        let date = CalendarDate(dayNumber: day) ?? .zero
        let time = second % 86_400
        func two(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(weekdays[day % 7]), \(two(date.day)) \(months[max(Int(date.month), 1) - 1]) \(date.year) "
            + "\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }
}
