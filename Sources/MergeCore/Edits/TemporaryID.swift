/// An id that a client made up for a row that it creates: `tmp:…` or a negative integer, spelled as in the reply.
package struct TemporaryID: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package var description: String { text }
}
