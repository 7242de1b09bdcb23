/// A unique index or the primary key.
package struct UniqueIndex: Sendable, Hashable {
    /// The name of the index.
    package let name: String
    /// The columns in the order of the index.
    package let columns: [String]

    /// Describes a unique index.
    package init(name: String, columns: [String]) {
        self.name = name
        self.columns = columns
    }
}
