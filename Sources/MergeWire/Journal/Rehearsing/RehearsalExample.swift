package import MergeCore

/// One outcome of the journal that two sets of rules decide differently.
package struct RehearsalExample: Sendable {
    /// The number of the entry.
    package let entry: Int
    /// The time of the merge, in UTC.
    package let at: DateTime
    /// The name of the resource.
    package let resource: String
    /// The record's key as URLs spell it.
    package let record: String
    /// The outcome with its values.
    package let outcome: OutcomeText
    /// The different decisions.
    package let difference: RehearsalDifference
    /// The section in the active rules, and in the new rules.
    package let sections: (active: Section, new: Section)

    /// Makes an example.
    package init(
        entry: Int, at: DateTime, resource: String, record: String, outcome: OutcomeText,
        difference: RehearsalDifference, sections: (active: Section, new: Section)
    ) {
        self.entry = entry
        self.at = at
        self.resource = resource
        self.record = record
        self.outcome = outcome
        self.difference = difference
        self.sections = sections
    }
}
