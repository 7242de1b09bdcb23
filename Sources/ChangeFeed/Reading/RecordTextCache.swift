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

        /// A feed gives no revision twice, so it tells names apart well enough to be all that is hashed.
        func hash(into hasher: inout Hasher) { hasher.combine(revision) }
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

        mutating func keep(_ text: [UInt8]?, of name: Name, now: ContinuousClock.Instant) {
            if let former = entries.updateValue(Entry(text: text, at: now), forKey: name) {
                bytes -= RecordTextCache.cost(former.text)
            } else {
                order.append(name)
            }
            bytes += RecordTextCache.cost(text)
        }

        mutating func forget(olderThan age: Duration, overBytes most: Int, now: ContinuousClock.Instant) {
            while first < order.count {
                let oldest = order[first]
                guard let entry = entries[oldest] else { break }
                guard bytes > most || now - entry.at >= age else { break }
                entries[oldest] = nil
                bytes -= RecordTextCache.cost(entry.text)
                first += 1
            }
            if first > 1_024, first * 2 > order.count {
                order.removeFirst(first)
                first = 0
            }
        }
    }

    private let state = Mutex(State())
    private let mostBytes: Int
    private static let age = Duration.seconds(1)
    /// The bytes that an entry costs besides its text.
    private static let overhead = 200

    init(mostBytes: Int = 16 << 20) {
        self.mostBytes = mostBytes
    }

    /// Returns the texts of records, parallel to their names: each is nil in itself where the record is gone, and nil
    /// where nobody has read it just now.
    ///
    /// Those of a page are looked up at once, since many readers would queue for the lock otherwise.
    func texts(_ names: [Name], now: ContinuousClock.Instant) -> [[UInt8]??] {
        state.withLock { state in
            names.map { name in
                guard let entry = state.entries[name], now - entry.at < Self.age else { return nil }
                return .some(entry.text)
            }
        }
    }

    /// A text that was read, nil where the record is gone, and the name that it is kept under.
    typealias Named = (name: Name, text: [UInt8]?)

    /// Keeps the texts of records.
    func keep(_ texts: [Named], now: ContinuousClock.Instant) {
        if texts.isEmpty { return }
        state.withLock { state in
            for (name, text) in texts { state.keep(text, of: name, now: now) }
            state.forget(olderThan: Self.age, overBytes: mostBytes, now: now)
        }
    }

    private static func cost(_ text: [UInt8]?) -> Int { (text?.count ?? 0) + overhead }
}
