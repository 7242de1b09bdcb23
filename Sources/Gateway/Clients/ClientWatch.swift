import Logging
import MergeService
import Operations
import RecordStore
import ServiceLifecycle

/// Stores the devices that have used this gateway, each at most once a minute.
actor ClientWatch: Service {
    private let clients: SeenClients
    private let box: RulesBox
    private let logger: Logger
    /// The count of erasures when the first of the known devices was noted.
    private var erasures: Int?
    private var pausedUntil = ContinuousClock.now
    private static let interval = Duration.seconds(2)
    private static let patience = Duration.seconds(10)
    /// The pause after an attempt without a table.
    private static let pause = Duration.seconds(600)

    init(clients: SeenClients, box: RulesBox, logger: Logger) {
        self.clients = clients
        self.box = box
        self.logger = logger
    }

    func run() async throws {
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            await store()
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
        }
        // A new start begins without the devices that are due later.
        await store()
    }

    private func store() async {
        guard .now >= pausedUntil, !box.maintenance.isOn, let journal = box.active?.journal else { return }
        do {
            let deadline = ContinuousClock.now.advanced(by: Self.patience)
            guard let known = erasures else {
                erasures = try await journal.clientErasures(until: deadline)
                return
            }
            let due = clients.due()
            if due.isEmpty { return }
            let now = try await journal.store(due, erasures: known, until: deadline)
            if now == known {
                clients.noteStored(due)
            } else {
                // Some devices may be of the erased sender.
                clients.forget()
                erasures = now
            }
        } catch {
            // Readiness reports an unreachable database.
            logger.debug("the devices cannot be stored", metadata: ["error": "\(error)"])
            if error.isMissingTable { pausedUntil = .now + Self.pause }
        }
    }
}
