/// Pairs of words for the ends of a range: `valid_from` and `valid_to`, `start_date` and `end_date`, `lat` and `lng`.
enum RangeWords {
    private static let closers: [String: Set<String>] = [
        "from": ["to", "until", "till", "thru", "through"],
        "since": ["until", "till", "to"],
        "start": ["end", "stop", "finish", "expire", "expires", "expiry", "expiration"],
        "starts": ["ends"],
        "started": ["ended", "stopped", "finished"],
        "begin": ["end"],
        "begins": ["ends"],
        "open": ["close"],
        "opens": ["closes"],
        "min": ["max"],
        "minimum": ["maximum"],
        "major": ["minor"],
        "lat": ["lng", "lon", "long"],
        "latitude": ["longitude"],
    ]

    /// Words for persons, because the sender and recipient of a message are no range.
    private static let persons: Set<String> = ["name", "email", "mail", "address", "phone"]

    private static let units: Set<String> = ["date", "on", "at", "time", "day", "datetime"]

    /// Returns the words for a group of an opening and a closing column, or nil if they are no pair.
    static func pair(_ opener: [String], _ closer: [String]) -> [String]? {
        guard opener.count == closer.count else { return nil }
        let differing = opener.indices.filter { opener[$0] != closer[$0] }
        guard differing.count == 1, let index = differing.first,
            closers[opener[index]]?.contains(closer[index]) == true
        else { return nil }
        var rest = opener
        rest.remove(at: index)
        if rest.contains(where: persons.contains) { return nil }
        if !rest.allSatisfy(units.contains) { return rest }
        switch opener[index] {
        case "lat", "latitude": return ["position"]
        case "min", "minimum": return ["range"]
        case "open", "opens": return ["hours"]
        case "major": return ["version"]
        default: return ["period"]
        }
    }
}
