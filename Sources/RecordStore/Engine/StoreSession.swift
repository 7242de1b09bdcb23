package import MergeCore

/// One transaction, confined to its connection's thread: it cannot outlive the closure that it is handed to.
package protocol StoreSession: AnyObject {
    /// Rows of a SELECT, each parallel to the statement's `columns`.
    func query(_ statement: Statement) throws(StoreError) -> [[Value]]

    /// The digests of the rows of a SELECT, without making values of them.
    ///
    /// - Parameters:
    ///   - statement: a SELECT with a key to hash under.
    ///   - columns: positions of the columns whose values are wanted all the same.
    func hashes(_ statement: Statement, keeping columns: [Int]) throws(StoreError) -> HashedRows

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
