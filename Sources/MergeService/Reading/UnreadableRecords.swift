package import MergeCore
import Synchronization

/// Remembers which records could not be read, for the log, `/readyz` and `/metrics`.
///
/// A record leaves the list when it is read again without a problem or is gone, and an hour after it was last met.
package final class UnreadableRecords: Sendable {
    /// A record that could not be read.
    package struct Entry: Sendable {
        /// The resource of the record.
        package let resource: Resource
        /// The key of the record.
        package let key: RecordKey
        /// A sentence that names tables, sections and columns, and no values.
        package let reason: String
        fileprivate let number: Int
        fileprivate var metAt: ContinuousClock.Instant
    }

    private struct Name: Hashable {
        let resource: String
        let key: RecordKey
    }

    private struct State {
        var entries: [Name: Entry] = [:]
        var number = 0
    }

    private let state = Mutex(State())
    /// Nothing is locked as long as all records can be read.
    private let isUsed = Atomic<Bool>(false)
    private let report: @Sendable (Entry) -> Void
    /// Records that are remembered at most.
    package static let most = 1_000
    private static let age = Duration.seconds(3_600)

    /// - Parameter report: called once for each record that enters the list.
    package init(report: @escaping @Sendable (Entry) -> Void = { _ in }) {
        self.report = report
    }

    /// Notes how a record was read; nil if it does not exist.
    func note(_ record: ReadRecord?, key: RecordKey, of resource: Resource, now: ContinuousClock.Instant = .now) {
        guard case .unreadable(let unreadable)? = record else {
            if isUsed.load(ordering: .relaxed) {
                state.withLock { $0.entries[Name(resource: resource.name, key: key)] = nil }
            }
            return
        }
        isUsed.store(true, ordering: .relaxed)
        let entry = state.withLock { state -> Entry? in
            let name = Name(resource: resource.name, key: key)
            if state.entries[name] != nil {
                state.entries[name]?.metAt = now
                return nil
            }
            guard state.entries.count < Self.most else { return nil }
            state.number += 1
            let entry = Entry(
                resource: resource, key: key, reason: unreadable.reason, number: state.number, metAt: now)
            state.entries[name] = entry
            return entry
        }
        if let entry { report(entry) }
    }

    /// Notes how the records of a page were read.
    func note(_ records: [ReadRecord], of resource: Resource) {
        for record in records { note(record, key: record.key, of: resource) }
    }

    /// Returns the records that could not be read, in the order in which they were met first.
    package func current(now: ContinuousClock.Instant = .now) -> [Entry] {
        guard isUsed.load(ordering: .relaxed) else { return [] }
        let all = state.withLock { state in
            state.entries = state.entries.filter { now - $0.value.metAt < Self.age }
            return Array(state.entries.values)
        }
        return all.sorted { $0.number < $1.number }
    }
}
