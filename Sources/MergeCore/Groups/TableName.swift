/// A table or view.
///
/// Two names are equal only if they have the same code points, because a database can have a table `café` in both
/// normalization forms.
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

    package static func == (a: TableName, b: TableName) -> Bool {
        ExactText(a.name) == ExactText(b.name) && a.schema.map(ExactText.init) == b.schema.map(ExactText.init)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(ExactText(name)) }

    package var description: String { schema.map { $0 + "." + name } ?? name }
}
