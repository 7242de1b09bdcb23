import MergeCore
import RecordStore

/// One connection to the server: an actor whose executor is the connection's own thread.
actor MariaDBConnection {
    private let thread: ConnectionThread
    private let configuration: MariaDBConfiguration
    nonisolated let health = ConnectionHealth()
    private var session: MariaDBSession?

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(_ configuration: MariaDBConfiguration) throws(StoreError) {
        self.configuration = configuration
        do {
            thread = try ConnectionThread()
        } catch {
            throw StoreError(.busy, "the system refused another thread", code: Int(error.code))
        }
    }

    /// Closes the handle on its own thread, whoever lets go of the connection last.
    isolated deinit {
        session = nil
        thread.stop()
    }

    /// Connects and sets the session up.
    func open() throws(StoreError) {
        session = try MariaDBSession(configuration, health)
    }

    /// Closes the handle on its own thread.
    func close() {
        session = nil
    }

    /// Tells whether the connection can be used again.
    nonisolated var isUsable: Bool { !health.isBroken }

    private func opened() throws(StoreError) -> MariaDBSession {
        guard let session else { throw StoreError(.unavailable, "the connection to the database is closed") }
        return session
    }

    func ping() throws(StoreError) { try opened().ping() }

    /// One transaction that may write, from BEGIN to COMMIT.
    func write<Answer: Sendable>(
        locking tables: [TableName],
        _ body: @Sendable (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) throws(StoreError) -> Answer {
        let session = try opened()
        try session.begin(locking: tables)
        let ending: Ending<Answer>
        do {
            ending = try body(session)
        } catch {
            session.abandon()
            throw error
        }
        switch ending {
        case .commit(let answer):
            try session.commit()
            return answer
        case .rollback(let answer):
            session.abandon()
            return answer
        }
    }

    /// One transaction after the other, each from its beginning to its end.
    func series<Work: Sendable, Answer: Sendable>(
        of kind: TransactionKind, next: @Sendable (_ mayWait: Bool) -> Work?,
        done: @Sendable (Work, Result<Answer, StoreError>) -> Void,
        _ body: @Sendable (Work, any StoreSession) throws(StoreError) -> Ending<Answer>
    ) {
        while isUsable, let work = next(true) {
            let result: Result<Answer, StoreError>
            do throws(StoreError) {
                switch kind {
                case .write:
                    result = .success(
                        try write(locking: []) { session throws(StoreError) in try body(work, session) })
                case .snapshot:
                    result = .success(try read { session throws(StoreError) in try body(work, session).answer })
                }
            } catch {
                result = .failure(error)
            }
            done(work, result)
        }
    }

    /// One snapshot.
    func read<Answer: Sendable>(
        _ body: @Sendable (any StoreSession) throws(StoreError) -> Answer
    ) throws(StoreError) -> Answer {
        let session = try opened()
        try session.beginSnapshot()
        defer { session.abandon() }
        return try body(session)
    }

    func schema(of tables: [TableName]) throws(StoreError) -> DatabaseSchema {
        let session = try opened()
        defer { session.abandon() }
        return try SchemaReader(session).read(tables)
    }
}
