package import MergeCore
package import RecordStore
import Synchronization

/// The records that could not be read, for the log, `/readyz` and `/metrics`.
///
/// Rows whose key cannot be decoded share one entry for each table of a resource. An entry is removed when its record
/// is deleted or read again, and one hour after its last failure.
package final class UnreadableRecords: Sendable {
    /// A record that could not be read.
    package struct Entry: Sendable {
        /// The resource of the record.
        package let resource: Resource
        /// The key of the record; nil for rows whose key cannot be decoded.
        package let key: RecordKey?
        /// The table of these rows, or of the record's root.
        package let table: TableName
        /// The number of records or rows.
        package fileprivate(set) var count = 1
        /// A sentence that names tables, sections and columns, but contains no values.
        package let reason: String
        fileprivate let number: Int
        fileprivate var metAt: ContinuousClock.Instant
    }

    private struct Name: Hashable {
        let resource: String
        var key: RecordKey?
        var table: TableName?
    }

    private struct State {
        var entries: [Name: Entry] = [:]
        var number = 0
    }

    private let state = Mutex(State())
    /// False as long as all records can be read, so that no lock is needed.
    private let isUsed = Atomic<Bool>(false)
    private let report: @Sendable (Entry) -> Void
    /// The largest number of entries.
    package static let most = 1_000
    private static let age = Duration.seconds(3_600)

    /// Creates an empty list.
    ///
    /// - Parameter report: called once for each new entry.
    package init(report: @escaping @Sendable (Entry) -> Void = { _ in }) {
        self.report = report
    }

    /// Adds or removes a record after a read; nil if it does not exist.
    func note(_ record: ReadRecord?, key: RecordKey, of resource: Resource, now: ContinuousClock.Instant = .now) {
        guard case .unreadable(let unreadable)? = record else {
            if isUsed.load(ordering: .relaxed) {
                state.withLock { _ = $0.entries.removeValue(forKey: Name(resource: resource.name, key: key)) }
            }
            return
        }
        enter(Name(resource: resource.name, key: key), count: 1, now: now) { number in
            Entry(
                resource: resource, key: key, table: resource.root.table, reason: unreadable.reason, number: number,
                metAt: now)
        }
    }

    /// Adds rows of a section's table that pages and scans omit.
    package func note(
        _ omitted: OmittedRows, of resource: Resource, _ section: Section, now: ContinuousClock.Instant = .now
    ) {
        guard let reason = omitted.reason else { return }
        enter(Name(resource: resource.name, table: section.table), count: omitted.count, now: now) { number in
            Entry(
                resource: resource, key: nil, table: section.table, count: omitted.count, reason: reason,
                number: number, metAt: now)
        }
    }

    /// Removes the entry of a section after a complete read without omitted rows.
    package func noteComplete(_ resource: Resource, _ section: Section) {
        guard isUsed.load(ordering: .relaxed) else { return }
        state.withLock { $0.entries[Name(resource: resource.name, table: section.table)] = nil }
    }

    private func enter(
        _ name: Name, count: Int, now: ContinuousClock.Instant, _ make: (_ number: Int) -> Entry
    ) {
        isUsed.store(true, ordering: .relaxed)
        let entry = state.withLock { state -> Entry? in
            if let known = state.entries[name] {
                state.entries[name]?.metAt = now
                state.entries[name]?.count = max(known.count, count)
                return nil
            }
            guard state.entries.count < Self.most else { return nil }
            state.number += 1
            let entry = make(state.number)
            state.entries[name] = entry
            return entry
        }
        if let entry { report(entry) }
    }

    func note(_ records: [ReadRecord], of resource: Resource) {
        for record in records { note(record, key: record.key, of: resource) }
    }

    /// Returns the entries in the order of their first failure.
    package func current(now: ContinuousClock.Instant = .now) -> [Entry] {
        guard isUsed.load(ordering: .relaxed) else { return [] }
        let all = state.withLock { state in
            state.entries = state.entries.filter { now - $0.value.metAt < Self.age }
            return Array(state.entries.values)
        }
        return all.sorted { $0.number < $1.number }
    }
}
