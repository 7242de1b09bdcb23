/// A table or view, as the rules name it.
package struct TableName: Sendable, Hashable, CustomStringConvertible {
    /// A schema of the same server; nil is the one connected to.
    package let schema: String?
    /// The name within the schema.
    package let name: String

    /// Names a table, of the schema connected to where none is given.
    package init(schema: String? = nil, name: String) {
        self.schema = schema
        self.name = name
    }

    package var description: String { schema.map { $0 + "." + name } ?? name }
}
