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
        let new = known.withLock { known in
            read.filter { read in
                read.name.map { known[$0] != read.record } ?? true
            }
        }
        if new.isEmpty, stretch == nil { return }
        var contents: [SectionName: ShownNote.Content] = [:]
        if let stretch {
            let root = SectionName(resource: stretch.resource.name, section: stretch.resource.root.name)
            contents[root] = ShownNote.Content(entries: [], span: stretch.span)
        }
        for record in new.map(\.record) {
            for (section, rows) in zip(record.resource.sections, record.sections) {
                guard let rows else { continue }
                let name = SectionName(resource: record.resource.name, section: section.name)
                contents[name, default: ShownNote.Content(entries: [])].entries.append(
                    ShownNote.Entry(record: record.record, link: rows.link, digest: rows.digest))
            }
        }
        if contents.isEmpty { return }
        let feed = journal.tables.feed
        let notes = contents.map { name, content in
            ShownNote(resource: name.resource, section: name.section, revision: revision, content: content)
        }
        try await journal.engine.write(deadline: deadline) { session throws(StoreError) in
            for note in notes { _ = try session.execute(feed.note(note)) }
            return .commit(())
        }
        known.withLock { known in
            if known.count > Self.mostKnown { known.removeAll() }
            for read in new {
                if let name = read.name { known[name] = read.record }
            }
        }
    }

    private struct SectionName: Hashable {
        let resource: String
        let section: String
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
