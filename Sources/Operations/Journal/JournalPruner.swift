package import Logging
import MergeCore
import MergeService
import RecordStore
import ServiceLifecycle

/// Prunes the journal in the background.
package struct JournalPruner: Service {
    private let box: RulesBox
    private let keyDays: Int
    private let entryDays: Int
    private let changeDays: Int
    private let logger: Logger
    private static let interval = Duration.seconds(600)
    /// The longest time for releasing the lease at shutdown.
    private static let farewell = Duration.seconds(2)

    /// - Parameters:
    ///   - keyDays: days after which the answer of a key is deleted.
    ///   - entryDays: days after which an entry is deleted.
    ///   - changeDays: days after which a change is deleted.
    package init(rules: RulesLoader, keyDays: Int, entryDays: Int, changeDays: Int, logger: Logger) {
        self.changeDays = changeDays
        box = rules.box
        self.keyDays = keyDays
        self.entryDays = entryDays
        self.logger = logger
    }

    /// Prunes the journal from time to time until the service is shut down.
    package func run() async throws {
        let owner = String(UInt64.random(in: .min ... .max), radix: 16)
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            if !box.maintenance.isOn, let journal = box.active?.journal { await prune(journal, owner: owner) }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
        guard let journal = box.active?.journal else { return }
        // A lease that is not released expires.
        try? await pruning(of: journal, owner).giveLeaseBack(until: .now.advanced(by: Self.farewell))
    }

    private func pruning(of journal: Journal, _ owner: String) -> JournalPruning {
        JournalPruning(
            journal: journal, keyDays: keyDays, entryDays: entryDays, changeDays: changeDays, owner: owner,
            stopwatch: { Stopwatch.now })
    }

    private func prune(_ journal: Journal, owner: String) async {
        do {
            let pruning = pruning(of: journal, owner)
            let deleted = try await cancelWhenGracefulShutdown { () async throws(StoreError) in try await pruning.run()
            }
            if let deleted, deleted > 0 {
                logger.notice("pruned the journal", metadata: ["entries": "\(deleted)"])
            }
        } catch {
            logger.warning("the journal was not pruned", metadata: ["error": "\(error)"])
        }
    }
}
