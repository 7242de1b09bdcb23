/// A unique index, the primary key among them.
package struct UniqueIndex: Sendable, Hashable {
    package let name: String
    package let columns: [String]

    package init(name: String, columns: [String]) {
        self.name = name
        self.columns = columns
    }
}
