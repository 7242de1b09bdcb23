import ChangeFeed
import ServiceLifecycle

/// Runs the change feed, the source of foreign changes, and recovery.
struct FeedService: Service {
    let feed: ChangeFeed
    let source: any ForeignChangeSource
    /// Runs recovery if a COMMIT is in doubt.
    let settle: @Sendable () async -> Void
    /// The time between two attempts of recovery, after an immediate first attempt.
    private static let recoveryInterval = Duration.seconds(1)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask { await feed.run() }
                group.addTask { await source.run() }
                group.addTask {
                    while !Task.isCancelled {
                        await settle()
                        try? await Task.sleep(for: Self.recoveryInterval)
                    }
                }
                await group.waitForAll()
            }
        }
    }
}
