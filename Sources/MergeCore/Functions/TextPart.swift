/// A place where both sides changed the same words differently, and what stands there.
package struct TextPart: Sendable, Hashable {
    /// The line of the merged text in which the place begins, counted from 1.
    package let line: Int
    /// The words that the client last read there.
    package let base: String
    /// The words that the client wants there.
    package let edited: String
    /// The words that the database holds there.
    package let current: String
    /// The favoured side's words, which stand.
    package let written: String

    /// Two parts are equal only with the same code points.
    package static func == (a: TextPart, b: TextPart) -> Bool { a.line == b.line && a.texts == b.texts }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(line)
        hasher.combine(texts)
    }

    private var texts: [ExactText] { [base, edited, current, written].map { ExactText($0) } }
}
