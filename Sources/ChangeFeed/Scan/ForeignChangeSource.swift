package import MergeService
import RecordStore

/// Finds changes of programs that bypass the gateway, and assigns revisions to them.
///
/// A source records changes only with `ForeignChangeRecorder`.
package protocol ForeignChangeSource: Sendable {
    /// True if the source compares delivery records, so that each page must store one.
    var needsDeliveryRecords: Bool { get }

    /// The current state in this gateway; nil if nothing finds foreign changes.
    var status: ForeignChangeStatus? { get }

    /// Finds changes until the task is cancelled.
    func run() async
}

/// No foreign change is found.
package struct NoForeignChanges: ForeignChangeSource {
    private let journal: @Sendable () -> Journal?
    private static let pause = Duration.seconds(1)

    /// - Parameter journal: returns the open journal, or nil.
    package init(journal: @escaping @Sendable () -> Journal?) { self.journal = journal }

    package var needsDeliveryRecords: Bool { false }
    package var status: ForeignChangeStatus? { nil }

    /// Stores in the journal that this gateway stores no delivery records.
    ///
    /// A later scan then cannot rely on earlier passes.
    package func run() async {
        while !Task.isCancelled {
            if let journal = journal() {
                let feed = journal.tables.feed
                do throws(StoreError) {
                    return try await journal.engine.write(deadline: .now.advanced(by: Self.pause * 10)) {
                        session throws(StoreError) in
                        _ = try session.execute(feed.forgetScanned)
                        return .commit(())
                    }
                } catch {}
            }
            try? await Task.sleep(for: Self.pause)
        }
    }
}
