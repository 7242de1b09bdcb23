import MergeCore
import MergeWire

/// Decides which steps of a newer journal a restored row lacks.
enum RestoredRow {
    /// The state of one step.
    enum State: Sendable, Hashable {
        /// The row contains the step, or something later that replaced it.
        case present
        /// The row is as it was before the step.
        case missing
        /// The row is neither, because it was changed otherwise, or because the journal does not contain the values.
        case unclear
    }

    /// Returns the state of each step.
    ///
    /// - Parameters:
    ///   - steps: all steps of one row in the newer journal that the restored one does not have, in their order.
    ///   - current: the fields of the row now; nil if there is no row.
    static func states(of steps: [EntryReader.Step], current: [Int: Value]?) -> [State] {
        let existence = steps.indices.filter { steps[$0].before == nil || steps[$0].after == nil }
        let lastPresent = existence.last { (steps[$0].after != nil) == (current != nil) }
        return steps.indices.map { index in
            let step = steps[index]
            if step.before == nil || step.after == nil {
                return lastPresent.map { index <= $0 } ?? false ? .present : .missing
            }
            if let lastPresent, index < lastPresent { return .present }
            if existence.contains(where: { $0 < index && $0 > lastPresent ?? -1 }) { return .missing }
            guard let current, !step.isPartial else { return .unclear }
            return state(ofChange: index, in: steps, since: lastPresent, current: current)
        }
    }

    private static func state(
        ofChange index: Int, in steps: [EntryReader.Step], since start: Int?, current: [Int: Value]
    ) -> State {
        var state = State.present
        for field in steps[index].after?.keys.sorted() ?? [] {
            let chain = steps.indices.filter { $0 >= start ?? 0 && steps[$0].after?[field] != nil }
            if let last = chain.last(where: { steps[$0].after?[field] == current[field] }) {
                if index > last { return .missing }
            } else if let first = chain.first, steps[first].before?[field] == current[field] {
                return .missing
            } else {
                state = .unclear
            }
        }
        return state
    }
}
