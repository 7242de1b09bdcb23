import MergeCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The time as the header `Date` wants it (RFC 9110 section 5.6.7), made once a second.
enum HTTPDate {
    private struct Known {
        var second = Int.min
        var text = ""
    }

    private static let known = Mutex(Known())
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static var now: String {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let second = Int(time.tv_sec)
        return known.withLock { known in
            if known.second != second { known = Known(second: second, text: text(second)) }
            return known.text
        }
    }

    /// - Parameter second: since 1970, which began on a Thursday.
    static func text(_ second: Int) -> String {
        let day = second / 86_400
        // Clocks do not reach the year 10,000.
        let date = CalendarDate(dayNumber: day) ?? .zero
        let time = second % 86_400
        func two(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(weekdays[day % 7]), \(two(date.day)) \(months[max(Int(date.month), 1) - 1]) \(date.year) "
            + "\(two(time / 3_600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }
}
