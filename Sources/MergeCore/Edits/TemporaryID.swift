/// An id that a client chose for a new row: `tmp:…` or a negative integer.
///
/// Ids are compared by bytes.
package struct TemporaryID: Sendable, Hashable, CustomStringConvertible {
    /// The maximum length of a temporary id in bytes.
    package static let maximumBytes = 1_024

    private let name: ExactText

    /// The id as the client spelled it.
    package var text: String { name.string }

    /// Wraps an id as the client spelled it.
    package init(_ text: String) {
        name = ExactText(text)
    }

    /// Reads a text that begins with `tmp:`, or returns nil for any other text.
    package init?(marked text: String) {
        guard text.utf8.starts(with: "tmp:".utf8) else { return nil }
        self.init(text)
    }

    /// Reads a negative integer in any spelling, or returns nil for any other value.
    package init?(number scalar: Scalar) {
        guard let number = scalar.wholeNumber, number < 0 else { return nil }
        self.init(String(number))
    }

    /// True if the id begins with `tmp:` and so cannot be a real key.
    package var isMarked: Bool { text.utf8.first != UInt8(ascii: "-") }

    package var description: String { text }
}
