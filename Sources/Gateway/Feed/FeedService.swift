import ChangeFeed
import MergeService
import RecordStore
import ServiceLifecycle

/// Keeps looking at the feed, and for changes of other programs, for as long as the gateway runs.
struct FeedService: Service {
    let feed: ChangeFeed
    /// nil where nobody looks for changes of other programs.
    let scan: ForeignScan?
    let journal: @Sendable () -> Journal?

    func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup { group in
                group.addTask { await feed.run() }
                group.addTask {
                    if let scan { await scan.run() } else { await ForeignScan.sendsUnnoted(journal) }
                }
                await group.waitForAll()
            }
        }
    }
}
