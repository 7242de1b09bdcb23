/// The reason for an outcome, as one sentence.
struct OutcomeReason {
    let section: Section
    let outcome: Outcome
    let circumstance: Circumstance

    /// The sentence, which ends with the rule that decided, such as `(shoppers.yaml:24)` or `(default)`.
    var sentence: String {
        (outcome.group.map { groupReason(section.groups[$0]) } ?? rowReason) + " (\(outcome.rule))."
    }

    // MARK: Groups

    private func groupReason(_ group: Group) -> String {
        switch outcome.kind {
        case .unchanged: return unchanged
        case .already:
            return isCreation ? "The row is there already, with this value" : "Both sides came to the same value"
        case .applied: return "Only the client changed it"
        case .combined: return conflict + "; " + combination(group) + places("; ", group: group)
        default: break
        }
        if let kind = outcome.guardKind { return guardReason(kind) + ", " + guardEffect(group) }
        if let merge = group.merge?.value, case .latest(let field) = merge, outcome.fallback == nil {
            let winner = outcome.kind == .clientWon ? "the client's" : "the database's"
            let name = section.fields[group.fields.lowerBound + field].name
            return "\(conflict); merge: {latest: \(name)} takes \(winner) values, which are later"
        }
        let fallback = outcome.fallback.map { "; " + $0 } ?? ""
        let meeting = outcome.parts.isEmpty ? "" : ", \(list(outcome.parts.map(\.place))) differently"
        return conflict + meeting + fallback + "; on-conflict: \(group.onConflict.value.rawValue) " + policyEffect
    }

    private var isCreation: Bool {
        if case .creation = circumstance { true } else { false }
    }

    private var conflict: String {
        isCreation ? "The row is there already, with another value" : "Both sides changed it"
    }

    private var unchanged: String {
        guard let sides = outcome.sides, sides.current != .null else {
            return "The client did not change it, so it does not matter that the row is gone"
        }
        return sides.base == sides.current
            ? "Nobody changed it" : "The client did not change it, so the change in the database stays"
    }

    private var policyEffect: String {
        switch outcome.kind {
        case .clientWon: "writes the client's"
        case .serverWon: "keeps the database's"
        default: "refuses the whole push"
        }
    }

    private func combination(_ group: Group) -> String {
        guard let merge = group.merge?.value else { return "they are combined" }
        let effect =
            switch merge {
            case .add: "adds the client's change to the current value"
            case .max: "takes the greater value"
            case .min: "takes the lesser value"
            case .set:
                isCreation
                    ? "unites both sides"
                    : "contains the additions of both sides, without the "
                        + "removals of either"
            case .text: "takes the changes of both sides, by line and by word"
            case .json: "takes the changes of both sides, member by member"
            case .latest: "takes the later side"
            }
        return "merge: \(merge.name) \(effect)"
    }

    /// Names the parts that both sides changed, and the policy that decides them.
    private func places(_ opening: String, group: Group) -> String {
        if outcome.parts.isEmpty { return "" }
        let policy = group.onConflict
        return opening + "where both changed \(list(outcome.parts.map(\.place))), "
            + "on-conflict: \(policy.value.rawValue) decides"
    }

    private func list(_ places: [MergedPart.Place]) -> String {
        var names = places.prefix(3).map { place in
            switch place {
            case .line(let line): "line \(line)"
            case .member(let pointer): pointer
            }
        }
        if places.count > 3 { names.append("\(places.count - 3) more") }
        guard let last = names.popLast() else { return "" }
        return names.isEmpty ? last : names.joined(separator: ", ") + " and " + last
    }

    // MARK: Guards

    private func guardReason(_ kind: GuardKind) -> String {
        switch kind {
        case .frozen: "The row is frozen by “frozen-when”"
        case .transitions: "“transitions” allows no step from the database's value to the client's"
        }
    }

    private func guardEffect(_ group: Group) -> String {
        outcome.kind == .rejected
            ? "and on-conflict: \(group.onConflict.value.rawValue) refuses the whole push"
            : "so the database's value stays"
    }

    // MARK: Rows

    private var rowReason: String {
        if outcome.guardKind != nil {
            let policy = section.onDeleteConflict.value.rawValue
            return "The row, or a row that would be deleted with it, is frozen by “frozen-when”, "
                + (outcome.kind == .rejected
                    ? "and on-delete-conflict: \(policy) refuses the whole push" : "so it is not deleted")
        }
        return switch outcome.kind {
        case .unchanged: unchanged
        case .already: "The client deleted it, and it is gone already"
        case .inserted: "The client created it, and no such row is there"
        case .deleted: deletion
        case .kept: changedMeanwhile + "leaves it as it is"
        case .restored: gone + "inserts it again with the client's values"
        case .missing:
            if case .recordIsGone = circumstance {
                "The record is gone, and nothing is changed or created under it"
            } else {
                gone + "leaves it so"
            }
        default:
            switch circumstance {
            case .deletion: changedMeanwhile + "refuses the whole push"
            case .recordIsGone: "The record is gone; on-missing: reject refuses the whole push"
            default: gone + "refuses the whole push"
            }
        }
    }

    private var gone: String {
        "The client changed it, and it is gone; on-missing: \(section.onMissing.value.rawValue) "
    }

    private var changedMeanwhile: String {
        "The client deleted it, and it was changed meanwhile; on-delete-conflict: "
            + "\(section.onDeleteConflict.value.rawValue) "
    }

    private var deletion: String {
        if case .deletionOfRecord = circumstance { return "It is deleted with its record" }
        if outcome.isConflict { return changedMeanwhile + "deletes it nevertheless" }
        let effect = section.softDelete == nil ? "" : ", which writes what “delete” sets"
        return "The client deleted it, and it is as the client knew it" + effect
    }
}
