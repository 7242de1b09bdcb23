/// The result of merging three records, group by group, with the reasons.
package struct Explanation: Sendable, Hashable {
    /// The resource of the three records.
    package let resource: Resource
    /// `merged` or `rejected`.
    package let status: PushStatus
    /// The outcomes with their reasons, in the order of the record.
    package let outcomes: [ExplainedOutcome]

    /// Sections that the edit touches and of which the database alone knows a condition (`where`, `checks`, `frozen-when`).
    package var sectionsWithConditions: [Section] {
        let touched = Set(outcomes.map(\.outcome.section))
        return resource.sections.enumerated().filter { index, section in
            touched.contains(index)
                && (section.visibility != nil || !section.checks.isEmpty || section.frozenWhen != nil)
        }.map(\.element)
    }
}
