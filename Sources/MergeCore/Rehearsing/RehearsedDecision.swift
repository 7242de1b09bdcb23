/// The decision of some rules on one outcome of the journal.
package struct RehearsedDecision: Sendable {
    /// What happens to a field of the outcome.
    enum FieldResult: Hashable {
        case client
        case database
        case combined(Value)
    }

    /// The outcomes, more than one if the rules divide the fields among several groups.
    package let outcomes: [Outcome]
    /// The different kinds of the outcomes in their order.
    package let kinds: [OutcomeKind]
    /// The results of the outcome's fields; empty for a whole row.
    let fields: [FieldResult]
    private let section: Section
    private let circumstance: Circumstance

    init(
        _ decision: RowDecision, of edit: RehearsedEdit, action: RowAction, state: RehearsedEdit.RowState,
        in section: Section
    ) {
        self.section = section
        circumstance = action.circumstance(state != .unreachable)
        outcomes = decision.outcomes
        var kinds: [OutcomeKind] = []
        for outcome in decision.outcomes where !kinds.contains(outcome.kind) { kinds.append(outcome.kind) }
        self.kinds = kinds.isEmpty ? [.unchanged] : kinds
        fields = edit.fields.map { Self.result(of: $0, in: decision.outcomes, section) }
    }

    private static func result(of field: Int, in outcomes: [Outcome], _ section: Section) -> FieldResult {
        for outcome in outcomes {
            guard let group = outcome.group, let place = section.groups[group].positions.firstIndex(of: field),
                let sides = outcome.sides, case .group(let written) = sides.written,
                case .group(let current) = sides.current, case .group(let edited) = sides.edited
            else { continue }
            if written[place] == current[place] { return .database }
            return written[place] == edited[place] ? .client : .combined(written[place])
        }
        return .database
    }

    /// The outcomes with their reasons.
    package var explained: [ExplainedOutcome] {
        outcomes.map { outcome in
            ExplainedOutcome(
                outcome: outcome,
                why: OutcomeReason(section: section, outcome: outcome, circumstance: circumstance).sentence)
        }
    }

    /// Returns true if client and database get the same from both decisions.
    func isSame(as other: RehearsedDecision) -> Bool { kinds == other.kinds && fields == other.fields }
}
