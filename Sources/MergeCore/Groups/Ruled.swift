/// A setting and the rule that set it.
package struct Ruled<Setting: Sendable & Hashable>: Sendable, Hashable {
    /// The setting.
    package let value: Setting
    /// The line of a rule file, or the default.
    package let rule: RuleReference

    /// Creates a setting.
    package init(_ value: Setting, rule: RuleReference = .default) {
        self.value = value
        self.rule = rule
    }
}
