/// The highest committed sequence number of each GTID domain (MariaDB) or source server (MySQL).
///
/// A lower position means that the server has lost transactions: a backup was restored, or a replica that lagged was
/// promoted. Sources: MariaDB “gtid_current_pos”, MySQL “gtid_executed”.
package struct CommitPosition: Sendable, Hashable {
    private let numbers: [String: Int]

    /// Reads a list such as `0-1-270,2-1-9` or `3E11FA47-…:1-5:7-9`, and ignores other parts.
    package init(_ text: String) {
        var numbers: [String: Int] = [:]
        for part in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            guard let (domain, number) = Self.highest(part) else { continue }
            numbers[domain] = max(number, numbers[domain] ?? 0)
        }
        self.numbers = numbers
    }

    private static func highest(_ part: Substring) -> (domain: String, number: Int)? {
        let intervals = part.split(separator: ":")
        if intervals.count > 1 {
            let ends = intervals.dropFirst().compactMap { $0.split(separator: "-").last.flatMap { Int($0) } }
            return ends.max().map { (String(intervals[0]), $0) }
        }
        let numbers = part.split(separator: "-")
        guard numbers.count == 3, let number = Int(numbers[2]) else { return nil }
        return (String(numbers[0]), number)
    }

    /// Returns true if a server has committed less than another position contains.
    ///
    /// It ignores domains in only one position, because a server may begin or end them at any time.
    package func isBehind(_ other: CommitPosition) -> Bool {
        other.numbers.contains { domain, number in numbers[domain].map { $0 < number } ?? false }
    }

    /// Returns the higher number of each domain.
    package func union(_ other: CommitPosition) -> CommitPosition {
        CommitPosition(numbers: numbers.merging(other.numbers) { max($0, $1) })
    }

    private init(numbers: [String: Int]) {
        self.numbers = numbers
    }

    /// The position as text that `init` reads.
    package var text: String {
        numbers.sorted { $0.key < $1.key }.map { "\($0.key):\($0.value)" }.joined(separator: ",")
    }
}
