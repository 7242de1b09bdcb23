import MergeCore

/// A literal is the name of a table in the connected schema.
extension TableName: ExpressibleByStringLiteral {
    /// Names a table of the connected schema.
    public init(stringLiteral name: String) { self.init(name: name) }
}
