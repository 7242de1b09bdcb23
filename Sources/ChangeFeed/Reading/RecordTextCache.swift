import RecordStore
import Synchronization

/// Records as they were read for somebody a moment ago, so that many who want the same change cost one reading.
///
/// Kept for a second and up to so many bytes: a program that bypasses the gateway may have changed a record since.
final class RecordTextCache: Sendable {
    /// Names a record as it looks under some rules since a revision.
    struct Name: Hashable {
        let record: RecordName
        let revision: Int
        let rules: String
    }

    private struct Entry {
        let text: [UInt8]?
        let at: ContinuousClock.Instant
    }

    private struct State {
        var entries: [Name: Entry] = [:]
        /// In the order in which they were read.
        var order: [Name] = []
        var first = 0
        var bytes = 0
    }

    private let state = Mutex(State())
    private let mostBytes: Int
    private static let age = Duration.seconds(1)
    /// The bytes that an entry costs besides its text.
    private static let overhead = 200

    init(mostBytes: Int = 16 << 20) {
        self.mostBytes = mostBytes
    }

    /// Returns a record's text, which is nil where the record is gone; nil where nobody has read it just now.
    func text(_ name: Name, now: ContinuousClock.Instant) -> [UInt8]?? {
        state.withLock { state in
            guard let entry = state.entries[name], now - entry.at < Self.age else { return nil }
            return .some(entry.text)
        }
    }

    /// Keeps a record's text.
    func keep(_ text: [UInt8]?, of name: Name, now: ContinuousClock.Instant) {
        state.withLock { state in
            if let former = state.entries.updateValue(Entry(text: text, at: now), forKey: name) {
                state.bytes -= Self.cost(former.text)
            } else {
                state.order.append(name)
            }
            state.bytes += Self.cost(text)
            while state.first < state.order.count {
                let oldest = state.order[state.first]
                guard let entry = state.entries[oldest] else { break }
                guard state.bytes > mostBytes || now - entry.at >= Self.age else { break }
                state.entries[oldest] = nil
                state.bytes -= Self.cost(entry.text)
                state.first += 1
            }
            if state.first > 1_024, state.first * 2 > state.order.count {
                state.order.removeFirst(state.first)
                state.first = 0
            }
        }
    }

    private static func cost(_ text: [UInt8]?) -> Int { (text?.count ?? 0) + overhead }
}
