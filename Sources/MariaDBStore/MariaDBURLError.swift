/// A database URL that cannot be used.
package struct MariaDBURLError: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
