import ChangeFeed
import MergeService
import RecordStore
import ServiceLifecycle

/// Runs the change feed, the scan and recovery.
struct FeedService: Service {
    let feed: ChangeFeed
    /// nil if the scan is off.
    let scan: ForeignScan?
    let journal: @Sendable () -> Journal?
    /// Runs recovery if a COMMIT is in doubt.
    let settle: @Sendable () async -> Void
    /// The time between two attempts of recovery, after a first attempt at once.
    private static let recoveryInterval = Duration.seconds(1)

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask { await feed.run() }
                group.addTask {
                    if let scan { await scan.run() } else { await ForeignScan.sendsUnnoted(journal) }
                }
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
