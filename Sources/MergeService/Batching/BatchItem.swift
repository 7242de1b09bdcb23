import MergeCore
import RecordStore

/// Something that waits for a transaction, which others of its kind may share.
protocol BatchItem: Sendable {
    /// By when it has to be under way.
    var deadline: ContinuousClock.Instant { get }
    /// Nobody waits for it any more.
    var isUnwanted: Bool { get }
    /// The rows that no two items of one batch, nor of two batches that run at once, may both name.
    var rows: Set<RowReference> { get }

    /// Returns true where a batch that began with `first` can take this one along.
    func goes(with first: Self) -> Bool
}

/// The running of batches.
protocol BatchWork<Item>: Sendable {
    associatedtype Item: BatchItem
    associatedtype Answer: Sendable

    /// The purpose for which a lane borrows its connection.
    var purpose: TransactionKind { get }
    var engine: any RecordEngine { get }

    /// Runs a batch in one transaction.
    ///
    /// - Returns: an answer for each item, in their order.
    /// - Throws: the `StoreError` of every one of them.
    func run(_ items: [Item], on connection: any StoreConnection) throws(StoreError) -> [Answer]

    /// Returns the answers of items for which no connection could be had, or whose transaction came to nothing for sure.
    ///
    /// - Throws: `error` where it is that of every item.
    func answers(to items: [Item], after error: StoreError) throws(StoreError) -> [Answer]

    /// Tidies up behind a lane that closes.
    func laneHasClosed() async
}
