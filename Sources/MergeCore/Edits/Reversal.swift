/// The part of an undo that takes one outcome of an entry of the journal back.
package struct Reversal: Sendable, Hashable {
    /// What the undo wants.
    package enum Aim: Sendable, Hashable {
        /// The group of this position has its former values again.
        case group(Int)
        /// The row is deleted again.
        case deletion
        /// The row comes back.
        case insertion
    }

    /// The position of the outcome in the entry.
    package let outcome: Int
    /// The position of the section.
    package let section: Int
    /// The key of the item, in a list.
    package let item: RecordKey?
    /// What the undo wants.
    package let aim: Aim
    /// Rows that the database changed along with the row, which have to be restored with it.
    package let returning: [Cascade]

    /// Describes what takes an outcome back.
    package init(outcome: Int, section: Int, item: RecordKey?, aim: Aim, returning: [Cascade] = []) {
        self.outcome = outcome
        self.section = section
        self.item = item
        self.aim = aim
        self.returning = returning
    }

    /// Returns true if the outcomes of the undo say that it did what this part wants.
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
