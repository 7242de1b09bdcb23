package import MergeCore
package import MergeService
package import RecordStore
import Synchronization

/// Stores delivery records before records are sent.
///
/// A foreign program can write a value and revert it between two passes. The scan detects no change, but a client may
/// have received the value. So the next pass compares all delivery records with the rows.
package final class ShownRecords: Sendable {
    /// A record that was read to be sent.
    package struct Read: Sendable {
        let record: ShownRecord
        /// The revision of its last change; nil if it was not read.
        let change: Int?

        /// - Parameter change: the revision of the record's last change, if a page of changes contains it.
        package init(_ record: ShownRecord, change: Int? = nil) {
            self.record = record
            self.change = change
        }
    }

    fileprivate struct Known: Hashable {
        let name: RecordName
        let change: Int

        func hash(into hasher: inout Hasher) { hasher.combine(change) }
    }

    /// The latest delivery records, so that none is stored twice.
    ///
    /// Until the record changes, a stored delivery record has been compared or will be.
    private let known = Mutex<[Known: ShownRecord]>([:])
    private static let mostKnown = 20_000
    private let isOn: Bool

    /// - Parameter isOn: true if a gateway scans; otherwise nothing is stored.
    package init(isOn: Bool) {
        self.isOn = isOn
    }

    /// Returns the key for row digests; nil if no delivery records are needed.
    package func hashKey(of journal: Journal?) -> SipHash.Key? { isOn ? journal?.hashKey : nil }

    /// A delivered range: all records of a resource between two keys.
    package struct Stretch: Sendable {
        let resource: Resource
        let span: ShownSpan

        /// Makes a range; nil if the scan does not read the resource.
        ///
        /// - Parameters:
        ///   - snapshot: the id of the snapshot.
        ///   - low: the key before the range; nil for the first range.
        ///   - high: the last key of the range; nil for the last range.
        ///   - viewer: the client; nil for all rights.
        package init?(
            of resource: Resource, in snapshot: UInt64, after low: RecordKey?, upTo high: RecordKey?,
            for viewer: Viewer?
        ) {
            guard ScanUnit.isScanned(resource, resource.root) else { return nil }
            func packed(_ key: RecordKey?) -> [UInt8]? {
                key.flatMap { PackedValues.bytes($0.parts, of: resource.root.columns) }
            }
            self.resource = resource
            span = ShownSpan(
                snapshot: snapshot, low: packed(low), high: packed(high),
                viewer: viewer?.view(of: resource)?.asConditionsSee)
        }
    }

    /// Stores delivery records.
    ///
    /// The records must not be sent before it returns.
    ///
    /// - Parameters:
    ///   - revision: the client's revision after receiving them.
    ///   - stretch: the delivered range, if the records are complete in it.
    /// - Throws: `StoreError`; then the records must not be sent.
    package func note(
        _ read: [Read], of stretch: Stretch? = nil, at revision: Int, in journal: Journal,
        until deadline: ContinuousClock.Instant
    ) async throws(StoreError) {
        guard isOn else { return }
        // Only change pages repeat records.
        let new =
            read.contains(where: { $0.change != nil })
            ? known.withLock { known in
                read.filter { read in
                    read.name.map { known[$0] != read.record } ?? true
                }
            } : read
        if new.isEmpty, stretch == nil { return }
        let notes = Self.notes(new, of: stretch, at: revision)
        if notes.isEmpty { return }
        let feed = journal.tables.feed
        try await journal.engine.write(deadline: deadline) { session throws(StoreError) in
            for note in notes { _ = try session.execute(feed.note(note)) }
            return .commit(())
        }
        guard new.contains(where: { $0.change != nil }) else { return }
        known.withLock { known in
            if known.count > Self.mostKnown { known.removeAll() }
            for read in new {
                if let name = read.name { known[name] = read.record }
            }
        }
    }

    /// Returns one delivery record for each scanned section.
    private static func notes(_ read: [Read], of stretch: Stretch?, at revision: Int) -> [ShownNote] {
        var notes: [ShownNote] = []
        var resources = stretch.map { [$0.resource] } ?? []
        for read in read where resources.last !== read.record.resource {
            if !resources.contains(where: { $0 === read.record.resource }) { resources.append(read.record.resource) }
        }
        for resource in resources {
            for (index, section) in resource.sections.enumerated() where ScanUnit.isScanned(resource, section) {
                let span = section.kind == .root && stretch?.resource === resource ? stretch?.span : nil
                var entries: [ShownNote.Entry] = []
                entries.reserveCapacity(read.count)
                for read in read where read.record.resource === resource {
                    guard let rows = read.record.sections[index] else { continue }
                    entries.append(
                        ShownNote.Entry(
                            record: read.record.record, link: rows.link, digest: rows.digest,
                            conditions: section.kind == .root ? read.record.conditions : nil))
                }
                if entries.isEmpty, span == nil { continue }
                notes.append(
                    ShownNote(
                        resource: resource.name, section: section.name, revision: revision,
                        content: ShownNote.Content(entries: entries, span: span)))
            }
        }
        return notes
    }
}

extension ShownRecords.Read {
    fileprivate var name: ShownRecords.Known? {
        change.map {
            ShownRecords.Known(
                name: RecordName(resource: record.resource.name, record: record.record), change: $0)
        }
    }
}
