/// The collation of a text column.
package struct Collation: Sendable, Hashable {
    /// The name in the database.
    package let name: String
    /// True if two texts are equal only if they have the same characters.
    package let isExact: Bool

    /// Names a collation.
    package init(_ name: String, isExact: Bool) {
        self.name = name
        self.isExact = isExact
    }
}
