/// The storage engine of a table.
package struct StorageEngine: Sendable, Hashable {
    /// The name, for messages.
    package let name: String
    /// True if the engine can roll back a transaction.
    package let isTransactional: Bool

    /// Names an engine.
    package init(_ name: String, isTransactional: Bool) {
        self.name = name
        self.isTransactional = isTransactional
    }
}
