public import Observation

/// The status of a store for views that observe it, such as those of SwiftUI.
@MainActor @Observable
public final class ObservedStatus {
    /// The last status.
    public private(set) var current: Status
    @ObservationIgnored private var following: Task<Void, Never>?

    /// Follows a store until it is closed or this is deallocated.
    public init(of store: FieldMergeStore) async {
        current = await store.status
        let statuses = store.statuses
        following = Task { [weak self] in
            for await status in statuses {
                guard let self else { return }
                self.current = status
            }
        }
    }

    deinit { following?.cancel() }
}
