import RecordStore
import Synchronization

/// Records as they were read for somebody a moment ago, so that many who want the same change cost one reading.
///
/// Kept for a second and up to so many bytes: a program that bypasses the gateway may have changed a record since.
final class RecordTextCache: Sendable {
    /// A record as it was read.
    final class Text: Sendable {
        let change: SequencedChange
        /// The record as `FeedCodec` writes it.
        let bytes: [UInt8]
        let isGone: Bool
        fileprivate let rules: String
        fileprivate let at: ContinuousClock.Instant

        /// - Parameters:
        ///   - change: the change since which the record looks so.
        ///   - rules: the version of the rules under which it was read.
        init(
            _ bytes: [UInt8], isGone: Bool, of change: SequencedChange, under rules: String, at: ContinuousClock.Instant
        ) {
            self.change = change
            self.bytes = bytes
            self.isGone = isGone
            self.rules = rules
            self.at = at
        }

        fileprivate var cost: Int { bytes.count + RecordTextCache.overhead }
    }

    private struct State {
        /// By the revision of the record's last change; a feed gives none twice.
        var entries: [Int: Text] = [:]
        /// In the order in which they were read.
        var order: [Int] = []
        var first = 0
        var bytes = 0

        mutating func keep(_ text: Text) {
            bytes += text.cost
            if let former = entries.updateValue(text, forKey: text.change.revision) {
                bytes -= former.cost
            } else {
                order.append(text.change.revision)
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

    /// Returns the texts of the records that changed, parallel to the changes; nil where nobody has read one just now.
    ///
    /// Those of a page are looked up at once, since many readers would queue for the lock otherwise.
    ///
    /// - Parameter rules: the version of the rules under which they are read.
    func texts(
        of changes: some Collection<SequencedChange>, under rules: String, now: ContinuousClock.Instant
    ) -> [Text?] {
        var texts = state.withLock { state in changes.map { state.entries[$0.revision] } }
        for (index, change) in changes.enumerated() {
            guard let text = texts[index] else { continue }
            if now - text.at >= Self.age || text.change.name != change.name || text.rules != rules {
                texts[index] = nil
            }
        }
        return texts
    }

    /// Keeps the texts of records.
    func keep(_ texts: [Text], now: ContinuousClock.Instant) {
        if texts.isEmpty { return }
        state.withLock { state in
            for text in texts { state.keep(text) }
            state.forget(olderThan: Self.age, overBytes: mostBytes, now: now)
        }
    }
}
