/// An id that a client made up for a row that it creates: `tmp:…` or a negative integer, spelled as in the reply.
package struct TemporaryID: Sendable, Hashable, CustomStringConvertible {
    /// The id as the client spelled it.
    package let text: String

    /// Takes an id as the client spelled it.
    package init(_ text: String) {
        self.text = text
    }

    package var description: String { text }
}
