/// A setting and the rule that it comes from.
package struct Ruled<Setting: Sendable & Hashable>: Sendable, Hashable {
    /// The setting.
    package let value: Setting
    /// The line of a rule file that says so, or the default.
    package let rule: RuleReference

    /// Makes a setting that a rule has set.
    package init(_ value: Setting, rule: RuleReference = .default) {
        self.value = value
        self.rule = rule
    }
}
