package import MergeCore

/// One transaction, confined to the thread of its connection; it must not outlive its closure.
package protocol StoreSession: AnyObject {
    /// Returns the rows of a SELECT, each parallel to the statement's `columns`.
    func query(_ statement: Statement) throws(StoreError) -> [[Value]]

    /// Returns the digests of a SELECT's rows without decoding all values.
    ///
    /// - Parameters:
    ///   - statement: a SELECT with a `hashKey`.
    ///   - columns: positions of the values to return too.
    func hashes(_ statement: Statement, keeping columns: [Int]) throws(StoreError) -> HashedRows

    /// Runs an INSERT, UPDATE or DELETE.
    func execute(_ statement: Statement) throws(StoreError) -> Execution

    /// Sends a statement without waiting for its answer, if the engine can.
    ///
    /// The statements after a refused one may still run. So the end of the transaction must be able to undo them.
    func send(_ statement: Statement) -> Ticket

    /// Returns the rows of a sent statement; a write has none.
    ///
    /// Each answer is received once, in any order, and before the transaction commits.
    ///
    /// - Throws: the reason if the statement was refused.
    func receive(_ ticket: Ticket) throws(StoreError) -> [[Value]]

    /// Sets a savepoint, to which the transaction can be rolled back; one of the same name is replaced.
    func set(_ savepoint: Savepoint) throws(StoreError)
    /// Undoes all writes since the savepoint, which remains set.
    func rollBack(to savepoint: Savepoint) throws(StoreError)
    func release(_ savepoint: Savepoint) throws(StoreError)

    /// True if every read inside the transaction must lock, because a plain read would return an old snapshot.
    var mustLockReads: Bool { get }
}

/// A savepoint of a transaction, by its name in SQL.
package enum Savepoint: String, Sendable {
    case edit = "fieldmerge_edit"
    /// Set within an edit, before a statement that the database may refuse.
    case statement = "fieldmerge_statement"
}

extension StoreError {
    /// The error if a statement has no answer before COMMIT; it may have failed, so the transaction is rolled back.
    package static let unanswered = StoreError(
        .other, "a transaction was to be committed before all of it was answered")
}

/// Identifies the answer to a sent statement.
package struct Ticket: Sendable, Hashable {
    /// The number of the statement in its transaction.
    package let number: Int

    /// Identifies the answer to the statement of a number.
    package init(number: Int) {
        self.number = number
    }
}

extension StoreSession {
    /// Runs statements in order, and may send each before the previous one is answered.
    ///
    /// - Parameters:
    ///   - next: returns the next statement; nil after the last.
    ///   - take: receives the rows of each statement in the same order; a write has none.
    /// - Throws: the first refusal or the error of `take`, when no statement is in progress any more.
    package func run(
        _ next: () -> Statement?, _ take: ([[Value]]) throws(StoreError) -> Void
    ) throws(StoreError) {
        // One statement runs in the database while the next one is already sent.
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
    /// The generated number of an AUTO_INCREMENT column; 0 if there is none.
    package let generatedKey: Int128

    /// Contains a generated number.
    package init(generatedKey: Int128) {
        self.generatedKey = generatedKey
    }
}
