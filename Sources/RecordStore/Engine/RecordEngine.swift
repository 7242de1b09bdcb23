package import MergeCore

/// The purpose of a transaction.
package enum TransactionKind: Sendable {
    /// It may write, and ends as its body says.
    case write
    /// It reads from one snapshot that sees only committed rows, and leaves nothing behind.
    case snapshot
}

/// The end that a transaction is to have.
package enum Ending<Answer: Sendable>: Sendable {
    case commit(Answer)
    case rollback(Answer)

    /// The answer, whichever end the transaction has.
    package var answer: Answer {
        switch self {
        case .commit(let answer), .rollback(let answer): answer
        }
    }
}

/// A database that holds records.
///
/// Both engines pass one compat suite, which is this protocol's contract.
package protocol RecordEngine: Sendable {
    /// The SQL that the database understands.
    var dialect: any Dialect { get }

    /// Runs `body` in one transaction that may write, on one connection, away from the cooperative threads.
    ///
    /// The body is pure but for the session, and runs again from the start where the database says deadlock, lock
    /// timeout or snapshot conflict, or the connection breaks before COMMIT; so it must not keep state outside.
    /// - Throws: `StoreError`; nothing was written unless its kind is `unknownOutcome`.
    ///
    /// - Parameter tables: tables to lock as a whole for the time of the transaction, because one of them knows no
    ///   transactions; empty where all do.
    func write<Answer: Sendable>(
        deadline: ContinuousClock.Instant, locking tables: [TableName],
        _ body: @escaping @Sendable (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) async throws(StoreError) -> Answer

    /// Runs one transaction after the other on one connection, for as long as there is a next, and nothing in between:
    /// what lies between two transactions is time in which the database waits.
    ///
    /// None is repeated; what becomes of each is told as soon as it is known. The series also ends where its connection
    /// breaks.
    /// - Throws: `StoreError` where no connection could be had; then nothing was asked for.
    ///
    /// - Parameters:
    ///   - kind: of every transaction.
    ///   - deadline: for a connection.
    ///   - next: what the next transaction is about; told whether it may wait for it, because the thread is the
    ///     connection's own.
    ///   - done: told on the same thread.
    func series<Work: Sendable, Answer: Sendable>(
        of kind: TransactionKind, deadline: ContinuousClock.Instant,
        next: @escaping @Sendable (_ mayWait: Bool) -> Work?,
        done: @escaping @Sendable (Work, Result<Answer, StoreError>) -> Void,
        _ body: @escaping @Sendable (Work, any StoreSession) throws(StoreError) -> Ending<Answer>
    ) async throws(StoreError)

    /// Runs `body` in one snapshot that sees only committed rows.
    func read<Answer: Sendable>(
        deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreSession) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer

    /// Reads what the schema says of some tables; a table that is missing is missing from the answer.
    func schema(of tables: [TableName], deadline: ContinuousClock.Instant) async throws(StoreError) -> DatabaseSchema

    /// Asks the database for a sign of life.
    func ping(deadline: ContinuousClock.Instant) async throws(StoreError)

    /// Closes every connection; calls that wait for one fail.
    func close() async
}

extension RecordEngine {
    /// Runs `body` in one transaction on tables that all know transactions.
    package func write<Answer: Sendable>(
        deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) async throws(StoreError) -> Answer {
        try await write(deadline: deadline, locking: [], body)
    }

    /// For an engine whose connections need no threads of their own.
    package func series<Work: Sendable, Answer: Sendable>(
        of kind: TransactionKind, deadline: ContinuousClock.Instant,
        next: @escaping @Sendable (_ mayWait: Bool) -> Work?,
        done: @escaping @Sendable (Work, Result<Answer, StoreError>) -> Void,
        _ body: @escaping @Sendable (Work, any StoreSession) throws(StoreError) -> Ending<Answer>
    ) async throws(StoreError) {
        while let work = next(false) {
            let result: Result<Answer, StoreError>
            do throws(StoreError) {
                switch kind {
                case .write:
                    result = .success(
                        try await write(deadline: deadline) { session throws(StoreError) in try body(work, session) })
                case .snapshot:
                    result = .success(
                        try await read(deadline: deadline) { session throws(StoreError) in
                            try body(work, session).answer
                        })
                }
            } catch {
                result = .failure(error)
            }
            done(work, result)
        }
    }
}

/// A store whose transactions can also run while the caller waits, on a thread that may block.
///
/// It is what a transaction of another store uses that has to know, before it commits, that something is kept.
package protocol WaitingStore: RecordEngine, AnyObject {
    /// Runs `body` in one transaction that is committed unless it throws.
    /// - Throws: `StoreError`; nothing was written.
    func writeNow<Answer>(
        _ body: (any StoreSession) throws(StoreError) -> Answer
    ) throws(StoreError) -> Answer
}

/// One transaction, confined to its connection's thread: it cannot outlive the closure that it is handed to.
package protocol StoreSession: AnyObject {
    /// Rows of a SELECT, each parallel to the statement's `columns`.
    func query(_ statement: Statement) throws(StoreError) -> [[Value]]

    /// Runs an INSERT, UPDATE or DELETE.
    func execute(_ statement: Statement) throws(StoreError) -> Execution

    /// Hands a statement over without waiting for its answer, where the engine can; the next may follow at once.
    ///
    /// Behind one that is refused others may run yet, so they have to be such that the end of the transaction takes
    /// them back.
    func send(_ statement: Statement) -> Ticket

    /// The rows of a statement that was sent, none of a write. Each answer is taken once, in any order, and all are before
    /// the transaction is committed.
    ///
    /// - Throws: why the statement was refused.
    func receive(_ ticket: Ticket) throws(StoreError) -> [[Value]]

    /// Marks a place in the transaction to which it can be taken back.
    func setSavepoint() throws(StoreError)
    func rollBackToSavepoint() throws(StoreError)
    func releaseSavepoint() throws(StoreError)

    /// Every read inside the transaction has to lock, or it would show an old snapshot.
    var mustLockReads: Bool { get }
}

extension StoreError {
    /// The error of a statement that was not answered: it may have been refused, so nothing of its transaction is kept.
    package static let unanswered = StoreError(
        .other, "a transaction was to be committed before all of it was answered")
}

/// Stands for the answer to a statement that was sent.
package struct Ticket: Sendable, Hashable {
    /// The number of the statement in its transaction.
    package let number: Int

    /// Stands for the answer to the statement of a number.
    package init(number: Int) {
        self.number = number
    }
}

extension StoreSession {
    /// Runs statements one after the other, each of which may be sent before the one before it is answered.
    ///
    /// - Parameters:
    ///   - next: the statements in their order; nil behind the last.
    ///   - take: is handed the rows of each in the same order, none of a write.
    /// - Throws: what was refused first, or what `take` throws; then nothing is under way any more.
    package func run(
        _ next: () -> Statement?, _ take: ([[Value]]) throws(StoreError) -> Void
    ) throws(StoreError) {
        // One that the database works on, and one that it finds next.
        var underWay: [Ticket] = []
        do throws(StoreError) {
            while let statement = next() {
                if underWay.count == 2 { try take(receive(underWay.removeFirst())) }
                underWay.append(send(statement))
            }
            while !underWay.isEmpty { try take(receive(underWay.removeFirst())) }
        } catch {
            for ticket in underWay { _ = try? receive(ticket) }
            throw error
        }
    }
}

/// The effect of a write.
package struct Execution: Sendable, Hashable {
    /// The number that the database gave to an AUTO_INCREMENT column; 0 where it gave none.
    package let generatedKey: Int128

    /// Notes the number that the database gave.
    package init(generatedKey: Int128) {
        self.generatedKey = generatedKey
    }
}
