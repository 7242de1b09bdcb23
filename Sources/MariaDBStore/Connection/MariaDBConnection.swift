import MergeCore
import RecordStore
import Synchronization

/// One connection to the server: an actor whose executor is the connection's own thread.
actor MariaDBConnection {
    private let thread: ConnectionThread
    private let configuration: MariaDBConfiguration
    nonisolated let health = ConnectionHealth()
    private var session: MariaDBSession?
    private nonisolated let readsOnly = Atomic<Bool>(false)

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ configuration: MariaDBConfiguration) throws(StoreError) {
        self.configuration = configuration
        do {
            thread = try ConnectionThread()
        } catch {
            throw StoreError(.busy, "the system refused another thread", code: Int(error.code))
        }
    }

    /// Closes the handle on its own thread, whichever thread releases the connection last.
    isolated deinit {
        session = nil
        thread.stop()
    }

    /// Connects and sets the session up.
    ///
    /// - Returns: the largest packet that the server accepts.
    func open() throws(StoreError) -> PacketSize {
        let session = try MariaDBSession(configuration, health)
        self.session = session
        return session.packet
    }

    func close() {
        session = nil
    }

    nonisolated var isUsable: Bool { !health.isBroken }

    /// Returns true if the last transaction had the same purpose.
    nonisolated func wasUsed(for purpose: TransactionKind) -> Bool {
        readsOnly.load(ordering: .relaxed) == (purpose == .snapshot)
    }

    func lend<Answer>(
        for purpose: TransactionKind,
        _ body: @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) throws(StoreError) -> Answer {
        guard let session else { throw StoreError(.unavailable, "the connection to the database is closed") }
        session.waitingBegins()
        readsOnly.store(purpose == .snapshot, ordering: .relaxed)
        return try body(session)
    }
}
