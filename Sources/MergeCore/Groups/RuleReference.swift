/// Names the rule that decided something: a line of a rule file, or the default.
package struct RuleReference: Sendable, Hashable, CustomStringConvertible {
    /// `shoppers.yaml:24` or `default`.
    package let text: String

    /// No rule file says anything, so Protocol.md's own rule holds.
    package static let `default` = RuleReference(text: "default")

    /// An undo, which never overwrites what others wrote since.
    package static let undo = RuleReference(text: "undo")

    private init(text: String) {
        self.text = text
    }

    /// - Parameters:
    ///   - file: the file's name without its folder, since clients see it.
    ///   - line: counts from 1.
    package init(file: String, line: Int) {
        text = "\(file):\(line)"
    }

    package var description: String { text }
}
