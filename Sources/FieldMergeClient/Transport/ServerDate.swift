import Foundation

/// Moments in the headers of an answer.
enum ServerDate {
    /// Returns the seconds since 1970 of a date such as `Thu, 01 Jan 1970 00:00:00 GMT`; nil for another text.
    static func seconds(_ text: String) -> Double? {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        return formatter.date(from: text)?.timeIntervalSince1970
    }

    /// Returns the seconds from a clock to the gateway's; 0 if they are less than a minute.
    ///
    /// - Parameters:
    ///   - headers: the headers of an answer, by their names in small letters.
    ///   - now: the time by the clock.
    /// - Returns: nil for an answer without `Date`. An answer that is not JSON is not from the gateway, so it gives nil too.
    static func offset(_ headers: [String: String], now: Double) -> Double? {
        guard headers["content-type"]?.contains("json") == true, let date = headers["date"].flatMap(seconds) else {
            return nil
        }
        return abs(date - now) < 60 ? 0 : date - now
    }
}
