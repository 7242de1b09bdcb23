import MergeCore
import RecordStore

/// A request that may share a transaction.
protocol BatchItem: Sendable {
    /// The latest start of the transaction.
    var deadline: ContinuousClock.Instant { get }
    /// True if the caller has disconnected.
    var isUnwanted: Bool { get }
    /// Two items with a common row never share a batch and never run at the same time.
    var rows: Set<RowName> { get }

    /// Returns true if the item may join a batch that begins with `first`.
    func goes(with first: Self) -> Bool
}

protocol BatchWork<Item>: Sendable {
    associatedtype Item: BatchItem
    associatedtype Answer: Sendable

    /// The kind of transaction for which a lane borrows its connection.
    var purpose: TransactionKind { get }
    var engine: any RecordEngine { get }

    /// Runs a batch in one transaction.
    ///
    /// - Returns: an answer for each item, in their order.
    /// - Throws: the `StoreError` of all items.
    func run(_ items: [Item], on connection: any StoreConnection) throws(StoreError) -> [Answer]

    /// Returns the answers after the batch got no connection, or its transaction certainly had no effect.
    ///
    /// - Throws: `error` if it applies to all items.
    func answers(to items: [Item], after error: StoreError) throws(StoreError) -> [Answer]

    /// Cleans up after a lane has closed.
    func laneHasClosed() async
}
