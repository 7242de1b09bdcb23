package import MergeCore
package import MergeService
package import RecordStore
import Synchronization

/// Notes which records were sent to clients, and as what, before they are.
///
/// A program that bypasses the gateway can write a value, and take it back before a scan comes by: to the scan nothing
/// has happened, but a client that was sent the record in between holds what is not there any more. So whatever is sent
/// is noted, and the next pass compares it with what it finds.
package final class ShownRecords: Sendable {
    /// A record that was read to be sent.
    package struct Read: Sendable {
        let record: ShownRecord
        /// The revision of its last change; nil where nobody has looked.
        let change: Int?

        /// - Parameter change: the revision of the record's last change, for one that a page of changes tells.
        package init(_ record: ShownRecord, change: Int? = nil) {
            self.record = record
            self.change = change
        }
    }

    fileprivate struct Known: Hashable {
        let name: RecordName
        let change: Int

        /// A feed gives no revision twice.
        func hash(into hasher: inout Hasher) { hasher.combine(change) }
    }

    /// The latest notes, so that nothing is noted twice: as long as a record has no newer change, what was noted
    /// of it has been compared, or will be.
    private let known = Mutex<[Known: ShownRecord]>([:])
    private static let mostKnown = 20_000
    private let isOn: Bool

    /// - Parameter isOn: somebody scans; else nothing is noted.
    package init(isOn: Bool) {
        self.isOn = isOn
    }

    /// Returns the key under which rows of records that will be sent are to be hashed; nil where nobody needs to know.
    package func hashKey(of journal: Journal?) -> SipHash.Key? { isOn ? journal?.hashKey : nil }

    /// Records of a resource that are all there are between two keys, for whoever is sent them.
    package struct Stretch: Sendable {
        let resource: Resource
        let span: ShownSpan

        /// nil where nobody looks for changes of the records.
        ///
        /// - Parameters:
        ///   - snapshot: tells the stretches of one snapshot from those of others.
        ///   - low: the key behind which it begins; nil before the first record.
        ///   - high: the key with which it ends; nil behind the last record.
        ///   - viewer: the client; nil for one who sees everything.
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

    /// Notes records; they must not be sent before it returns.
    ///
    /// - Parameters:
    ///   - revision: the revision up to which the client has everything with them.
    ///   - stretch: set where they are all records of a stretch, so that what is missing among them is known too.
    /// - Throws: `StoreError`; then they must not be sent at all.
    package func note(
        _ read: [Read], of stretch: Stretch? = nil, at revision: Int, in journal: Journal,
        until deadline: ContinuousClock.Instant
    ) async throws(StoreError) {
        guard isOn else { return }
        // Of a snapshot nothing is known, and of a page of changes mostly all.
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

    /// The notes of some records, one for each section that is scanned.
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
