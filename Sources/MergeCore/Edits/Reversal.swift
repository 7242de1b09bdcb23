/// The part of an undo that reverses one outcome of a journal entry.
package struct Reversal: Sendable, Hashable {
    /// The intended effect of the undo.
    package enum Aim: Sendable, Hashable {
        /// Restores the former values of the group at this position.
        case group(Int)
        case deletion
        case insertion
    }

    /// The position of the outcome in the entry.
    package let outcome: Int
    /// The position of the section.
    package let section: Int
    /// The key of the item, in a list.
    package let item: RecordKey?
    /// The intended effect of the undo.
    package let aim: Aim
    /// Rows that the database changed along with the row, which the undo restores too.
    package let returning: [Cascade]

    /// Creates the reversal of one outcome.
    package init(outcome: Int, section: Int, item: RecordKey?, aim: Aim, returning: [Cascade] = []) {
        self.outcome = outcome
        self.section = section
        self.item = item
        self.aim = aim
        self.returning = returning
    }

    /// Returns true if the outcomes of the undo contain the intended effect.
    package func isDone(by outcomes: [Outcome]) -> Bool {
        outcomes.contains { outcome in
            guard outcome.section == section, outcome.item == item.map({ .key($0) }) else { return false }
            switch aim {
            case .group(let group):
                return outcome.group == group && [.applied, .clientWon, .combined].contains(outcome.kind)
            case .deletion: return outcome.group == nil && outcome.kind == .deleted
            case .insertion: return outcome.group == nil && [.inserted, .restored].contains(outcome.kind)
            }
        }
    }
}
