/// An id that a client made up for a row that it creates: `tmp:…` or a negative integer, spelled as in the reply.
///
/// Two are the same only with the same bytes.
package struct TemporaryID: Sendable, Hashable, CustomStringConvertible {
    /// The most bytes that one may have.
    package static let maximumBytes = 1_024

    private let name: ExactText

    /// The id as the client spelled it.
    package var text: String { name.string }

    /// Takes an id as the client spelled it.
    package init(_ text: String) {
        name = ExactText(text)
    }

    /// Reads a text that begins with `tmp:`; nil for any other.
    package init?(marked text: String) {
        guard text.utf8.starts(with: "tmp:".utf8) else { return nil }
        self.init(text)
    }

    /// Reads an id of a column that the database numbers, in any spelling of a negative integer; nil for any other.
    package init?(number scalar: Scalar) {
        guard let number = scalar.wholeNumber, number < 0 else { return nil }
        self.init(String(number))
    }

    /// Begins with `tmp:`, so that it can be nothing but a temporary id.
    package var isMarked: Bool { text.utf8.first != UInt8(ascii: "-") }

    package var description: String { text }
}
