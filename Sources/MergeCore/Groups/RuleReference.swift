/// The rule that decided: a line of a rule file, or a built-in rule.
package struct RuleReference: Sendable, Hashable, CustomStringConvertible {
    /// `shoppers.yaml:24` or `default`.
    package let text: String

    /// The rule of Protocol.md, if no rule file contains one.
    package static let `default` = RuleReference(text: "default")

    /// The rule of an undo, which never overwrites later changes of other clients.
    package static let undo = RuleReference(text: "undo")

    private init(text: String) {
        self.text = text
    }

    /// Creates a reference to a line of a rule file, which is named without its folder because clients see it.
    package init(file: String, line: Int) {
        text = "\(file):\(line)"
    }

    package var description: String { text }
}
