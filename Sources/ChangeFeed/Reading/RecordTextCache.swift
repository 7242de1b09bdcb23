import RecordStore
import Synchronization

/// Records as they were read for somebody a moment ago, so that many who want the same change cost one reading.
///
/// Kept for a second and up to so many bytes: a program that bypasses the gateway may have changed a record since.
final class RecordTextCache: Sendable {
    private struct Entry {
        let record: RecordName
        let rules: String
        let text: [UInt8]?
        let at: ContinuousClock.Instant

        var cost: Int { (text?.count ?? 0) + RecordTextCache.overhead }
    }

    private struct State {
        /// By the revision of the record's last change; a feed gives none twice.
        var entries: [Int: Entry] = [:]
        /// In the order in which they were read.
        var order: [Int] = []
        var first = 0
        var bytes = 0

        mutating func keep(_ entry: Entry, of revision: Int) {
            bytes += entry.cost
            if let former = entries.updateValue(entry, forKey: revision) {
                bytes -= former.cost
            } else {
                order.append(revision)
            }
        }

        mutating func forget(olderThan age: Duration, overBytes most: Int, now: ContinuousClock.Instant) {
            while first < order.count {
                let oldest = order[first]
                guard let entry = entries[oldest] else { break }
                guard bytes > most || now - entry.at >= age else { break }
                entries[oldest] = nil
                bytes -= entry.cost
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

    /// Returns the texts of the records that changed, parallel to the changes: each is nil in itself where the record is
    /// gone, and nil where nobody has read it just now.
    ///
    /// Those of a page are looked up at once, since many readers would queue for the lock otherwise.
    ///
    /// - Parameter rules: the version of the rules under which they are read.
    func texts(
        of changes: some Collection<SequencedChange>, under rules: String, now: ContinuousClock.Instant
    ) -> [[UInt8]??] {
        state.withLock { state in
            changes.map { change in
                guard let place = state.entries.index(forKey: change.revision) else { return nil }
                let entry = state.entries.values[place]
                guard now - entry.at < Self.age, entry.record == change.name, entry.rules == rules else { return nil }
                return .some(entry.text)
            }
        }
    }

    /// A text that was read, nil where the record is gone, and the change since which the record looks so.
    typealias Read = (change: SequencedChange, text: [UInt8]?)

    /// Keeps the texts of records.
    func keep(_ texts: [Read], under rules: String, now: ContinuousClock.Instant) {
        if texts.isEmpty { return }
        state.withLock { state in
            for (change, text) in texts {
                state.keep(Entry(record: change.name, rules: rules, text: text, at: now), of: change.revision)
            }
            state.forget(olderThan: Self.age, overBytes: mostBytes, now: now)
        }
    }
}
