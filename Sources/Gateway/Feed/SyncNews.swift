import ChangeFeed
import RecordStore

/// Waits until the feed contains the pushes of a sync, or returns its last state after a timeout.
struct SyncNews: Sendable {
    let feed: ChangeFeed
    private static let patience = Duration.seconds(2)

    /// The state of the feed; `isCaughtUp` is true if it contains all earlier commits.
    struct Found: Sendable {
        let state: FeedState?
        let isCaughtUp: Bool
    }

    func news() async throws(StoreError) -> Found {
        let wait = Wait<Result<FeedState?, StoreError>>()
        // Other requests share this check, so it continues after the timeout.
        wait.begin { [feed] in
            do throws(StoreError) { return .success(try await feed.catchUp()) } catch { return .failure(error) }
        }
        guard let result = await wait.outcome(until: .now.advanced(by: Self.patience)) else {
            return Found(state: feed.known, isCaughtUp: false)
        }
        return Found(state: try result.get(), isCaughtUp: true)
    }
}
