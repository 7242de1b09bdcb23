/// A fault of the tokens file.
package struct TokenFileError: Error, Sendable, CustomStringConvertible {
    /// The file, the line and the fault.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
