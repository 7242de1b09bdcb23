/// The result of a merge of texts.
package struct TextMergeResult: Sendable, Hashable {
    /// The merged text.
    package let text: String
    /// The parts that both sides changed differently, in the order of the text.
    package let parts: [TextPart]
}

extension TextMergeResult {
    /// Compares by code points.
    package static func == (a: TextMergeResult, b: TextMergeResult) -> Bool {
        ExactText(a.text) == ExactText(b.text) && a.parts == b.parts
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(ExactText(text))
        hasher.combine(parts)
    }
}
