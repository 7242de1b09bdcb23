/// Merges texts three ways, by line and then by word.
///
/// A line ends with `\r\n`, `\n` or a lone `\r`, which stay unchanged. A word is a run of letters and digits, a run of
/// white space within a line, or any other character. Marks belong to the character before them. Pieces are equal only
/// if their code points are equal. Changes of adjacent lines or words do not conflict. Two different insertions at the
/// same point do.
///
/// Laws:
/// - `merge(b, e, b)` is `e`, `merge(b, b, c)` is `c` and `merge(b, x, x)` is `x`, all without parts;
/// - if edited, current and the favoured side are swapped, the text is the same;
/// - without parts, the favoured side does not matter;
/// - an insertion of one side is in the text, or in a part that shows it;
/// - the text consists of whole words of the three texts.
package enum TextMerge {
    /// Returns the three-way merge.
    ///
    /// Lines that both sides changed differently are merged by word. If both sides changed the same words differently,
    /// the favoured side wins and the result has a part. The time is proportional to the length of the texts. So the
    /// parts of very different texts may be coarser than necessary.
    package static func merge(
        base: String, edited: String, current: String, favouring: MergeSide, spending budget: inout WorkBudget
    ) throws(WorkSpent) -> TextMergeResult {
        let (b, e, c) = (ExactText(base), ExactText(edited), ExactText(current))
        if e == c || b == e { return TextMergeResult(text: current, parts: []) }
        if b == c { return TextMergeResult(text: edited, parts: []) }
        return try TextMerger(base: base, edited: edited, current: current, favouring: favouring)
            .result(spending: &budget)
    }
}
