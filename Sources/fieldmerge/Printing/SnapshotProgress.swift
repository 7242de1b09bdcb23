import MergeCore
import SystemPackage

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reports the progress of a snapshot on standard error: a bar on a terminal, else plain lines.
struct SnapshotProgress {
    private let start = ContinuousClock.now
    private let isTerminal = isatty(2) == 1
    private var lastTold = ContinuousClock.now
    private var records = 0
    /// The estimated number of records; nil if unknown.
    private var estimate: Int?

    /// Counts some lines.
    ///
    /// - Throws: an error if standard error cannot be written.
    mutating func add(_ bytes: [UInt8], records: Int) throws {
        if self.records == 0, records == 0 { estimate = Self.estimate(bytes) }
        self.records += records
        let now = ContinuousClock.now
        guard now - lastTold > (isTerminal ? .milliseconds(200) : .seconds(10)) else { return }
        lastTold = now
        try tell(isTerminal ? "\r\u{1B}[K" + bar(now) : line(now) + "\n")
    }

    func finish() throws {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        try tell((isTerminal ? "\r\u{1B}[K" : "") + "\(records) records in \(Int(seconds.rounded())) s\n")
    }

    private func tell(_ text: String) throws { _ = try FileDescriptor.standardError.writeAll(Array(text.utf8)) }

    private func line(_ now: ContinuousClock.Instant) -> String {
        var text = "\(records)" + (estimate.map { " of about \($0)" } ?? "") + " records, \(rate(now)) a second"
        if let left = secondsLeft(now) { text += ", \(left) s left" }
        return text
    }

    private func bar(_ now: ContinuousClock.Instant) -> String {
        guard let estimate, estimate > 0 else { return line(now) }
        let width = 30
        let done = min(width, records * width / estimate)
        return "[" + String(repeating: "#", count: done) + String(repeating: ".", count: width - done) + "] "
            + line(now)
    }

    private func rate(_ now: ContinuousClock.Instant) -> Int {
        Int(clamping: Double(records) / max((now - start) / .seconds(1), 0.001))
    }

    private func secondsLeft(_ now: ContinuousClock.Instant) -> Int? {
        let rate = rate(now)
        guard let estimate, rate > 0, estimate > records else { return nil }
        return (estimate - records) / rate
    }

    private static func estimate(_ line: [UInt8]) -> Int? {
        let text = String(decoding: line, as: UTF8.self)
        guard let found = text.range(of: "\"records\":") else { return nil }
        return Int(text[found.upperBound...].prefix { $0.isNumber })
    }
}

extension String {
    fileprivate func range(of needle: String) -> Range<String.Index>? {
        var index = startIndex
        while index < endIndex {
            if self[index...].hasPrefix(needle) {
                return index..<self.index(index, offsetBy: needle.count)
            }
            index = self.index(after: index)
        }
        return nil
    }
}
