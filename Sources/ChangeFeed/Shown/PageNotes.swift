package import MergeCore
package import MergeService
package import RecordStore
import Synchronization

/// Notes the records of a page of a resource before they are sent, and that no others are between them.
package final class PageNotes: Sendable {
    /// Records that follow one another.
    package struct Part: Sendable {
        fileprivate let read: [ShownRecords.Read]
        fileprivate let stretch: ShownRecords.Stretch?
    }

    private struct State {
        var last: RecordKey?
        var parts: [Part] = []
    }

    /// The key under which the rows are to be hashed.
    package let hashKey: SipHash.Key
    private let resource: Resource
    private let viewer: Viewer?
    private let revision: Int
    private let journal: Journal
    private let shown: ShownRecords
    /// Distinguishes the page from others.
    private let id = UInt64.random(in: .min ... .max)
    private let state: Mutex<State>
    private static let patience = Duration.seconds(30)

    init(
        of resource: Resource, after key: RecordKey?, for viewer: Viewer?, at revision: Int, hashKey: SipHash.Key,
        in journal: Journal, _ shown: ShownRecords
    ) {
        self.resource = resource
        self.viewer = viewer
        self.revision = revision
        self.hashKey = hashKey
        self.journal = journal
        self.shown = shown
        state = Mutex(State(last: key))
    }

    /// Adds the next records of the page.
    package func add(_ records: [ReadRecord], _ digests: RecordDigests?) {
        guard let digests, let last = records.last?.key else { return }
        let read = records.map { record in
            ShownRecords.Read(
                ShownRecord(
                    resource, journal.codec.key(record.key, resource.root),
                    digests.sections(of: record.key, in: resource)))
        }
        add(read, upTo: last)
    }

    /// Ends the page.
    ///
    /// - Parameter next: the key after which the next page begins; nil at the end of the resource.
    package func end(next: RecordKey?) {
        if next == nil { add([], upTo: nil) }
    }

    private func add(_ read: [ShownRecords.Read], upTo high: RecordKey?) {
        state.withLock { state in
            let stretch = ShownRecords.Stretch(of: resource, in: id, after: state.last, upTo: high, for: viewer)
            state.parts.append(Part(read: read, stretch: stretch))
            state.last = high
        }
    }

    /// Returns what was added since the last call.
    package func take() -> [Part] {
        state.withLock { state in
            defer { state.parts = [] }
            return state.parts
        }
    }

    /// Notes parts of the page; they must not be sent before it returns.
    ///
    /// - Throws: `StoreError`; then they must not be sent at all.
    package func note(_ parts: [Part]) async throws(StoreError) {
        for part in parts {
            try await shown.note(
                part.read, of: part.stretch, at: revision, in: journal, until: .now.advanced(by: Self.patience))
        }
    }
}
