/// The result of a merge of texts.
package struct TextMergeResult: Sendable, Hashable {
    /// The merged text.
    package let text: String
    /// The places where both sides changed the same words differently, in the order of the text.
    package let parts: [TextPart]
}

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

extension TextMergeResult {
    /// Two results are equal only with the same code points.
    package static func == (a: TextMergeResult, b: TextMergeResult) -> Bool {
        ExactText(a.text) == ExactText(b.text) && a.parts == b.parts
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(text))
        hasher.combine(parts)
    }
}
