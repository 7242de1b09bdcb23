/// The result of merging three records, group by group, with the reasons.
package struct Explanation: Sendable, Hashable {
    /// The resource of the records.
    package let resource: Resource
    /// `merged` or `rejected`.
    package let status: PushStatus
    /// The outcomes with their reasons, in the order of the record.
    package let outcomes: [ExplainedOutcome]

    /// The positions of the sections whose current rows count as frozen.
    let frozen: Set<Int>

    /// The edited sections with a condition that only the database can evaluate (`where`, `checks`).
    package var sectionsWithConditions: [Section] {
        touched.filter { $0.visibility != nil || !$0.checks.isEmpty }
    }

    /// The edited sections whose `frozen-when` was not evaluated.
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
