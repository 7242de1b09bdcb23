import MergeCore

/// The outcome of a whole row as the journal contains it.
struct RowOutcome {
    /// The client's change of the row.
    enum Change {
        case create(JSONNode)
        case edit(old: JSONNode, new: JSONNode)
        case delete(old: JSONNode)
    }

    let change: Change
    /// The current row; nil if it does not exist.
    let current: JSONNode?
    /// The names of the fields without values in the entry.
    let hidden: Set<String>
    private let kind: OutcomeKind
    private let recordExists: Bool

    /// - Parameter recordExists: True if an outcome of the entry shows a row of the record.
    init(_ outcome: JSONNode, _ kind: OutcomeKind, recordExists: Bool) throws(UnjudgedReason) {
        if outcome["unlogged"] != nil { throw .foreignChange }
        guard let old = outcome["old"], let new = outcome["new"] else { throw .unreadable }
        self.kind = kind
        self.recordExists = recordExists
        hidden = Set(outcome["private"]?.elements.compactMap(\.string) ?? [])
        current = outcome["current"].flatMap { $0.isNull ? nil : $0 }
        change = new.isNull ? .delete(old: old) : old.isNull ? .create(new) : .edit(old: old, new: new)
        // A row without its record, or a deletion of a missing row, has other reasons than its values.
        let isDeletion = if case .delete = change { true } else { false }
        if isDeletion == (current == nil) { throw .unexplained }
    }

    /// The possible states of a missing row.
    func missingStates(in section: Section) -> [RehearsedEdit.RowState] {
        if case .create = change { return kind == .inserted ? [.gone] : [.unreachable] }
        return section.kind == .root || recordExists || kind == .restored ? [.gone] : [.gone, .unreachable]
    }
}
