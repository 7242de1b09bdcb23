import MergeCore

/// The decision on one group of three fields, for each of the main outcomes.
enum Decisions {
    private struct Example {
        let outcome: OutcomeKind
        let base: [Value]
        let edited: [Value]
        let current: [Value]
        var policy = ConflictPolicy.clientWins
    }

    private static let examples = [
        Example(outcome: .unchanged, base: address(1), edited: address(1), current: address(2)),
        Example(outcome: .already, base: address(1), edited: address(2), current: address(2)),
        Example(outcome: .applied, base: address(1), edited: address(2), current: address(1)),
        Example(outcome: .clientWon, base: address(1), edited: address(2), current: address(3)),
        Example(outcome: .serverWon, base: address(1), edited: address(2), current: address(3), policy: .serverWins),
        Example(outcome: .rejected, base: address(1), edited: address(2), current: address(3), policy: .reject),
    ]

    private static func address(_ version: Int) -> [Value] { People.address(version) }

    static func costs(seconds: Double) -> [Cost] {
        groups(seconds: seconds) + [added(seconds: seconds), row(seconds: seconds)]
    }

    private static func groups(seconds: Double) -> [Cost] {
        examples.map { example in
            let section = People.section(onConflict: example.policy)
            let group = section.groups[People.addressGroup]
            let types = section.types(of: People.addressGroup)
            return Cost.measure("decide: \(example.outcome.rawValue)", seconds: seconds) {
                let decision = GroupDecision.decide(
                    base: .values(example.base), edited: example.edited, current: example.current, group: group,
                    types: types, digest: { _ in [] })
                precondition(decision.outcome == example.outcome)
                keep(decision)
            }
        }
    }

    /// The simplest of the merge functions.
    private static func added(seconds: Double) -> Cost {
        let section = People.section(merge: .add)
        let creditLimit = 4
        let values = [100, 150, 120].map { [Value.decimal(ExactDecimal(Int128($0)))] }
        return Cost.measure("decide: combined (add)", seconds: seconds) {
            let decision = GroupDecision.decide(
                base: .values(values[0]), edited: values[1], current: values[2], group: section.groups[creditLimit],
                types: section.types(of: creditLimit), digest: { _ in [] })
            precondition(decision.outcome == .combined)
            keep(decision)
        }
    }

    /// The decision of a push about a row, with its outcome and the values to write.
    private static func row(seconds: Double) -> Cost {
        let section = People.section()
        let fields = Array(section.groups[People.addressGroup].fields)
        let action = RowAction.edit([
            GroupEdit(
                group: People.addressGroup, base: .values(FieldValues(fields: fields, values: address(1))),
                edited: FieldValues(fields: fields, values: address(2)), path: WirePath("changeset.person.address"),
                isRowForm: false)
        ])
        let current = People.row(1, version: 1)
        return Cost.measure("decide: a row of one group", seconds: seconds) {
            keep(RowDecider(section: section) { _, _ in [] }.decide(action, item: nil, current: current))
        }
    }
}
