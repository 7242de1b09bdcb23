/// A table or view, as the rules name it.
package struct TableName: Sendable, Hashable, CustomStringConvertible {
    /// A schema of the same server, or nil for the connection's own.
    package let schema: String?
    /// The name within the schema.
    package let name: String

    /// Names a table.
    package init(schema: String? = nil, name: String) {
        self.schema = schema
        self.name = name
    }

    package var description: String { schema.map { $0 + "." + name } ?? name }
}
