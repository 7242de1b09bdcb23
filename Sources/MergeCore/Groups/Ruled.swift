/// A setting and the rule that it comes from.
package struct Ruled<Setting: Sendable & Hashable>: Sendable, Hashable {
    package let value: Setting
    package let rule: RuleReference

    package init(_ value: Setting, rule: RuleReference = .default) {
        self.value = value
        self.rule = rule
    }
}
