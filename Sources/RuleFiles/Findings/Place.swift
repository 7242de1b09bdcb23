/// A location in a rule file; lines and columns count from 1.
package struct Place: Sendable, Hashable {
    /// The path of the file.
    package let file: String
    /// The line.
    package let line: Int
    /// The column, in characters.
    package let column: Int
}
