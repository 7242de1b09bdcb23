/// The result of a merge of texts.
package struct TextMergeResult: Sendable, Hashable {
    /// The merged text.
    package let text: String
    /// The places where both sides changed the same words differently, in the order of the text.
    package let parts: [TextPart]
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
