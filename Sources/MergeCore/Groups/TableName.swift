/// A table or view, as the rules name it.
package struct TableName: Sendable, Hashable, CustomStringConvertible {
    /// A schema of the same server; nil is the one connected to.
    package let schema: String?
    package let name: String

    package init(schema: String? = nil, name: String) {
        self.schema = schema
        self.name = name
    }

    package var description: String { schema.map { $0 + "." + name } ?? name }
}
