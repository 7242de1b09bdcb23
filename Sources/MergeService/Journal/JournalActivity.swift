package import MergeCore
package import RecordStore

/// The entries of the last minutes, by minute.
package struct JournalActivity: Sendable {
    /// The database's time in UTC.
    package let now: DateTime
    /// The minutes with entries, the oldest first.
    package let minutes: [MinuteCounts]
    /// False if the work was limited, so that older entries are not counted.
    package let isComplete: Bool
}

extension Journal {
    /// The newest entries that are counted.
    private static let mostCounted = 100_000
    /// The entries that are read to find conflicts among deletions.
    private static let mostDeletions = 2_000

    /// Counts the entries of the last minutes.
    package func activity(
        minutes count: Int, _ deadline: ContinuousClock.Instant
    ) async throws(StoreError) -> JournalActivity {
        try await engine.read(deadline: deadline) { [tables, codec] session throws(StoreError) in
            guard case .dateTime(let now)? = try session.query(tables.currentTime).first?.first,
                let start = DateTime(
                    secondsSince1970: (now.microsecondsSince1970 / 60_000_000 - count + 1) * 60, microsecond: 0)
            else { throw StoreError(.unreadable, "the database does not return its time") }
            guard let bounds = try session.query(tables.bounds).first, case .integer(let first) = bounds[0],
                case .integer(let last) = bounds[1]
            else { return JournalActivity(now: now, minutes: [], isComplete: true) }
            let (oldest, newest) = (Int(clamping: first), Int(clamping: last))
            let wanted = try Self.firstNumber(since: start, in: oldest...newest, tables, session: session)
            let from = max(wanted, newest - Self.mostCounted + 1)
            guard from <= newest else { return JournalActivity(now: now, minutes: [], isComplete: true) }
            var found = try session.query(tables.minutes(since: start, from...newest)).compactMap { tables.minute($0) }
            let deletions = try session.query(
                tables.deletions(since: start, from...newest, limit: Self.mostDeletions))
            for deletion in deletions.compactMap({ tables.deletion($0) }) where codec.hasConflict(deletion.entry) {
                guard let index = found.firstIndex(where: { $0.minute == deletion.minute }) else { continue }
                found[index].conflicts += 1
            }
            return JournalActivity(
                now: now, minutes: found, isComplete: from == wanted && deletions.count < Self.mostDeletions)
        }
    }

    /// Returns the first number whose entry is of a time or later, by binary search without an index on the time.
    private static func firstNumber(
        since time: DateTime, in numbers: ClosedRange<Int>, _ tables: JournalTables, session: any StoreSession
    ) throws(StoreError) -> Int {
        var low = numbers.lowerBound
        var high = numbers.upperBound + 1
        while low < high {
            let middle = low + (high - low) / 2
            if try session.query(tables.isSince(time, from: middle)).first?.first == .integer(1) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }
}

extension MergeService {
    /// Counts the entries of the last minutes.
    package func activity(
        minutes: Int, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws -> JournalActivity {
        try await active.kept().activity(minutes: minutes, deadline)
    }
}
