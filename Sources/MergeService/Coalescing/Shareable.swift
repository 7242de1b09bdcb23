import MergeCore
import RecordStore

/// Work that may share a transaction with others of its kind.
protocol Shareable: Sendable {
    associatedtype Answer: Sendable

    /// By when it has to be under way.
    var deadline: ContinuousClock.Instant { get }
    /// The one who waits for it.
    var caller: Caller { get }
    /// The rows that no two of one transaction, nor of two that run at once, may both name.
    var rows: Set<RowReference> { get }

    /// Returns true where a transaction that began with `first` can take this one along.
    func goes(with first: Self) -> Bool
}

/// The end of one item of a shared transaction.
enum Verdict<Answer: Sendable>: Sendable {
    case answered(Answer)
    /// It has to run in a transaction of its own.
    case alone
}

/// The transactions that are shared.
protocol SharedWork<Item>: Sendable {
    associatedtype Item: Shareable

    /// Runs transactions for as long as there is a next, each for the items of one batch.
    ///
    /// - Throws: `StoreError` where the database gives no connection; then nothing was taken.
    func run<Batch: Sendable>(
        deadline: ContinuousClock.Instant, next: @escaping @Sendable (_ mayWait: Bool) -> Batch?,
        items: @escaping @Sendable (Batch) -> [Item],
        done: @escaping @Sendable (Batch, Result<[Verdict<Item.Answer>], StoreError>) -> Void
    ) async throws(StoreError)
}

extension SharedWork {
    /// Items of a transaction that was not committed for sure may run again, each alone, so that each is answered as if it had been from the
    /// start.
    static func verdict(_ error: StoreError, _ items: [Item]) -> Result<[Verdict<Item.Answer>], StoreError> {
        error.kind == .unknownOutcome ? .failure(error) : .success(items.map { _ in .alone })
    }
}
