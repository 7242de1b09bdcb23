/// The result of merging three records, group by group, with the reasons.
package struct Explanation: Sendable, Hashable {
    /// The resource of the three records.
    package let resource: Resource
    /// `merged` or `rejected`.
    package let status: PushStatus
    /// The outcomes with their reasons, in the order of the record.
    package let outcomes: [ExplainedOutcome]

    /// Positions of the sections whose current rows the caller called frozen.
    let frozen: Set<Int>

    /// Sections that the edit touches and of which only the database can evaluate a condition (`where`, `checks`).
    package var sectionsWithConditions: [Section] {
        touched.filter { $0.visibility != nil || !$0.checks.isEmpty }
    }

    /// Sections that the edit touches whose `frozen-when` was not evaluated.
    package var sectionsWithOpenGuards: [(section: Section, rule: RuleReference)] {
        let asked = frozen.map { resource.sections[$0].name }
        return touched.compactMap { section in
            guard let rule = section.frozenWhen?.rule, !asked.contains(section.name) else { return nil }
            return (section, rule)
        }
    }

    private var touched: [Section] {
        let positions = Set(outcomes.map(\.outcome.section))
        return resource.sections.indices.filter { positions.contains($0) }.map { resource.sections[$0] }
    }
}
