import ChangeFeed
import RecordStore
import Synchronization

/// The feed as a sync waits for it: with its own pushes in it, or as it stands after a while.
struct SyncNews: Sendable {
    let feed: ChangeFeed
    /// The longest that the answer waits for its own changes.
    private static let patience = Duration.seconds(2)

    /// The feed, and whether everything that was committed before is in it.
    struct Found: Sendable {
        let state: FeedState?
        let isCaughtUp: Bool
    }

    func news() async throws -> Found {
        let feed = feed
        // The look goes on for others who wait for it, whoever is too late here; so neither waits for the other.
        let result: Result<Found, any Error> = await withCheckedContinuation { continuation in
            let first = FirstAnswer(continuation)
            Task {
                do {
                    first.take(.success(Found(state: try await feed.catchUp(), isCaughtUp: true)))
                } catch {
                    first.take(.failure(error))
                }
            }
            Task {
                try? await Task.sleep(for: Self.patience)
                first.take(.success(Found(state: feed.known, isCaughtUp: false)))
            }
        }
        return try result.get()
    }

    /// Answers once, with whatever comes first.
    private final class FirstAnswer: Sendable {
        private let continuation: Mutex<CheckedContinuation<Result<Found, any Error>, Never>?>

        init(_ continuation: CheckedContinuation<Result<Found, any Error>, Never>) {
            self.continuation = Mutex(continuation)
        }

        func take(_ result: Result<Found, any Error>) {
            let waiting = continuation.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            waiting?.resume(returning: result)
        }
    }
}
