import Foundation
import MergeCore
import RecordStore

@testable import SQLiteStore

/// An engine without a database.
///
/// Its connections run no statement, each on a thread.
struct StubEngine: RecordEngine {
    /// Thrown in place of a connection.
    var failure: StoreError?

    var dialect: any Dialect { SQLiteDialect() }

    func withConnection<Answer: Sendable>(
        for purpose: TransactionKind, deadline: ContinuousClock.Instant,
        _ body: @escaping @Sendable (any StoreConnection) throws(StoreError) -> Answer
    ) async throws(StoreError) -> Answer {
        if let failure { throw failure }
        let result: Result<Answer, StoreError> = await withCheckedContinuation { continuation in
            Thread {
                do throws(StoreError) {
                    continuation.resume(returning: .success(try body(StubConnection())))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }.start()
        }
        return try result.get()
    }

    func close() async {}
}

private final class StubConnection: StoreConnection {
    var isUsable: Bool { true }
    var isExclusive: Bool { true }

    func wait(as patience: Patience) {}

    private static let nothing = StoreError(.other, "there is no database")

    func write<Answer>(
        locking tables: [TableName], _ body: (any StoreSession) throws(StoreError) -> Ending<Answer>
    ) throws(StoreError) -> Answer { throw Self.nothing }

    func read<Answer>(_ body: (any StoreSession) throws(StoreError) -> Answer) throws(StoreError) -> Answer {
        throw Self.nothing
    }

    func schema(of tables: [TableName]) throws(StoreError) -> DatabaseSchema { throw Self.nothing }

    func refusals(of statements: [Statement]) throws(StoreError) -> [StoreError?] { throw Self.nothing }

    func ping() throws(StoreError) { throw Self.nothing }
}
