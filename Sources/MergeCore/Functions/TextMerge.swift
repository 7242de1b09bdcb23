/// Merges texts three ways, by line and then by word.
///
/// A line is what a line end (`\r\n`, `\n` or a lone `\r`, kept as it is) ends; a word is a run of letters and digits
/// with their marks, a run of white space within a line, or any other character with its marks. Pieces are equal only
/// with the same code points. Changes of lines or words side by side do not disturb each other; two insertions at the
/// same point do, unless they are equal.
///
/// Laws:
/// - `merge(b, e, b)` is `e`, `merge(b, b, c)` is `c` and `merge(b, x, x)` is `x`, all without parts;
/// - with edited, current and the favoured side swapped the text is the same;
/// - without parts the text does not depend on the favoured side;
/// - what one side alone inserted is in the text, or in a part that shows it;
/// - the text is made of words of the three texts, none of them cut or grown together.
package enum TextMerge {
    /// The three-way merge.
    ///
    /// Lines that both sides changed differently are merged by word; where both changed the same words differently, the
    /// favoured side's stand and a part says so. It takes time in proportion to the texts, whatever stands in them: of
    /// very different ones it may find coarser parts than there could be.
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
