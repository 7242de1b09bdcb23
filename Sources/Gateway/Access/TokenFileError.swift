/// A tokens file that cannot be used.
package struct TokenFileError: Error, Sendable, CustomStringConvertible {
    /// The file, the line and what is wrong with it.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
