/// A part that both sides changed differently, with the result.
package struct TextPart: Sendable, Hashable {
    /// The line of the merged text in which the part begins, counted from 1.
    package let line: Int
    /// The words that the client last read.
    package let base: String
    /// The words that the client wants.
    package let edited: String
    /// The words in the database.
    package let current: String
    /// The favoured side's words, which are the result.
    package let written: String

    /// Compares by code points.
    package static func == (a: TextPart, b: TextPart) -> Bool { a.line == b.line && a.texts == b.texts }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(line)
        hasher.combine(texts)
    }

    private var texts: [ExactText] { [base, edited, current, written].map { ExactText($0) } }
}
