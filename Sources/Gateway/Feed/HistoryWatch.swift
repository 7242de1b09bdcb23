import ChangeFeed
import Logging
import MergeService
import RecordStore
import Operations
import ServiceLifecycle

/// Compares the database's history with the highest known position.
struct HistoryWatch: Service {
    let history: HistoryGuard
    let feed: ChangeFeed
    let box: RulesBox
    let logger: Logger
    private static let interval = Duration.seconds(1)

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            try await checkFiles()
            await check()
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
        // The next start compares the database with the last revision that a client may have read.
        await check()
    }

    /// - Throws: `StoreError` if a file was replaced, which ends the gateway.
    private func checkFiles() async throws(StoreError) {
        guard let journal = box.active?.journal else { return }
        do throws(StoreError) {
            try await history.checkFiles(journal)
        } catch {
            guard error.kind == .other else { return }
            logger.critical(
                "the gateway ends, because its database file was replaced. Pushes of the last second may be in the old file",
                metadata: ["error": "\(error)"])
            throw error
        }
    }

    private func check() async {
        guard let journal = box.active?.journal else { return }
        do {
            if try await history.check(journal, confirmed: feed.known) { box.reopenJournal() }
        } catch {
            // Readiness reports an unreachable database.
            logger.debug("the history cannot be compared", metadata: ["error": "\(error)"])
        }
    }
}
