import ChangeFeed
import RecordStore

/// The feed as a sync waits for it: with its own pushes in it, or as it was last after a while.
struct SyncNews: Sendable {
    let feed: ChangeFeed
    /// The longest that the answer waits for its own changes.
    private static let patience = Duration.seconds(2)

    /// The feed, and whether everything that was committed before is in it.
    struct Found: Sendable {
        let state: FeedState?
        let isCaughtUp: Bool
    }

    func news() async throws(StoreError) -> Found {
        let wait = Wait<Result<FeedState?, StoreError>>()
        // Other requests wait for the same look, so it goes on when this one gives up.
        Task { [feed] in
            do throws(StoreError) {
                wait.end(.success(try await feed.catchUp()))
            } catch {
                wait.end(.failure(error))
            }
        }
        guard let result = await wait.outcome(until: .now.advanced(by: Self.patience)) else {
            return Found(state: feed.known, isCaughtUp: false)
        }
        return Found(state: try result.get(), isCaughtUp: true)
    }
}
