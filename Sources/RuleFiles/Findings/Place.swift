/// A place in a rule file; lines and columns count from 1.
package struct Place: Sendable, Hashable {
    package let file: String
    package let line: Int
    package let column: Int
}
