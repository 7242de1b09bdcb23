import ChangeFeed
import Logging
import MergeService
import Operations
import ServiceLifecycle

/// Compares the history of the database with the highest position that was seen, once a second.
struct HistoryWatch: Service {
    let history: HistoryGuard
    let feed: ChangeFeed
    let box: RulesBox
    let logger: Logger
    private static let interval = Duration.seconds(1)

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            await check()
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
        // The next start compares the database with the last revision that a client may have read.
        await check()
    }

    private func check() async {
        guard let journal = box.active?.journal else { return }
        do {
            if try await history.check(journal, confirmed: feed.known) { box.reopenJournal() }
        } catch {
            // The readiness of the gateway reports a database that cannot be reached.
            logger.debug("the history cannot be compared", metadata: ["error": "\(error)"])
        }
    }
}
