import Synchronization

/// The highest revision of a journal that this process has reported to clients.
///
/// A feed with a lower counter would assign these revisions again. So nothing gets a revision until a new feed begins.
package final class RevisionFloor: Sendable {
    private let highest = Mutex(0)

    init() {}

    /// Records a revision that clients may have read.
    package func raise(to revision: Int) { highest.withLock { $0 = max($0, revision) } }

    /// - Throws: `StoreError` if the feed had a higher revision before, because a backup was restored.
    package func check(_ revision: Int) throws(StoreError) {
        guard revision < highest.withLock({ $0 }) else { return }
        throw StoreError(.unavailable, "the feed has a lower revision than before, so a new one is about to begin")
    }
}
