import MergeCore
import SystemPackage

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Reports progress on standard error: a bar on a terminal, else plain lines.
struct ProgressLine {
    private let noun: String
    private let start = ContinuousClock.now
    private let isTerminal = isatty(2) == 1
    private var lastTold = ContinuousClock.now
    private var count = 0
    /// The estimated number of all; nil if unknown.
    var estimate: Int?

    /// - Parameter noun: the name of the counted things, in the plural.
    init(_ noun: String) {
        self.noun = noun
    }

    /// Sets the number that is done.
    ///
    /// - Throws: an error if standard error cannot be written.
    mutating func set(_ count: Int) throws {
        self.count = count
        let now = ContinuousClock.now
        guard now - lastTold > (isTerminal ? .milliseconds(200) : .seconds(10)) else { return }
        lastTold = now
        try tell(isTerminal ? "\r\u{1B}[K" + bar(now) : line(now) + "\n")
    }

    func finish() throws {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        try tell((isTerminal ? "\r\u{1B}[K" : "") + "\(count) \(noun) in \(Int(seconds.rounded())) s\n")
    }

    private func tell(_ text: String) throws { _ = try FileDescriptor.standardError.writeAll(Array(text.utf8)) }

    private func line(_ now: ContinuousClock.Instant) -> String {
        var text = "\(count)" + (estimate.map { " of about \($0)" } ?? "") + " \(noun), \(rate(now)) a second"
        if let left = secondsLeft(now) { text += ", \(left) s left" }
        return text
    }

    private func bar(_ now: ContinuousClock.Instant) -> String {
        guard let estimate, estimate > 0 else { return line(now) }
        let width = 30
        let done = min(width, count * width / estimate)
        return "[" + String(repeating: "#", count: done) + String(repeating: ".", count: width - done) + "] "
            + line(now)
    }

    private func rate(_ now: ContinuousClock.Instant) -> Int {
        Int(clamping: Double(count) / max((now - start) / .seconds(1), 0.001))
    }

    private func secondsLeft(_ now: ContinuousClock.Instant) -> Int? {
        let rate = rate(now)
        guard let estimate, rate > 0, estimate > count else { return nil }
        return (estimate - count) / rate
    }
}
