import ChangeFeed
import ServiceLifecycle

/// Keeps looking at the feed for as long as the gateway runs.
struct FeedService: Service {
    let feed: ChangeFeed

    func run() async throws {
        await cancelWhenGracefulShutdown { await self.feed.run() }
    }
}
