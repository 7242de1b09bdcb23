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

    /// Returns the seconds from a clock to the gateway's; never less than they are.
    ///
    /// `Date` is cut to seconds, so the gateway's time can be one second later.
    ///
    /// - Parameters:
    ///   - headers: the headers of an answer, by their names in small letters.
    ///   - now: the time by the clock.
    ///   - known: the offset that was known before; nil before the first answer. It stays if it agrees with `Date`, and if there is no `Date`. An
    ///     answer that is not JSON is not from the gateway, so the known offset stays too.
    static func offset(_ headers: [String: String], now: Double, known: Double?) -> Double? {
        guard headers["content-type"]?.contains("json") == true, let date = headers["date"].flatMap(seconds) else {
            return known
        }
        let latest = date + 1 - now
        if let known, (latest...latest + 1).contains(known) { return known }
        return latest
    }
}
