import MergeCore

extension RowAction {
    /// Returns the action with temporary ids replaced by the available keys.
    func resolved(in section: Section, _ ids: (TemporaryID) -> Value?) -> RowAction {
        guard hasPending else { return self }
        switch self {
        case .create(let new): return .create(new.resolved(in: section, ids))
        case .edit(let groups):
            return .edit(
                groups.map { edit in
                    var base = edit.base
                    if case .values(let fields) = base { base = .values(fields.resolved(in: section, ids)) }
                    return GroupEdit(
                        group: edit.group, base: base, edited: edit.edited.resolved(in: section, ids), path: edit.path,
                        isRowForm: edit.isRowForm)
                })
        case .delete(let groups):
            return .delete(groups.map { GroupBase(group: $0.group, base: $0.base.resolved(in: section, ids)) })
        }
    }

    private var hasPending: Bool {
        switch self {
        case .create(let new): return !new.pending.isEmpty
        case .edit(let groups):
            return groups.contains { edit in
                if case .values(let base) = edit.base, !base.pending.isEmpty { return true }
                return !edit.edited.pending.isEmpty
            }
        case .delete(let groups): return groups.contains { !$0.base.pending.isEmpty }
        }
    }
}
