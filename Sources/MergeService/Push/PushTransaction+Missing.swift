import MergeCore
import RecordStore

/// Rows that depend on a `missing` row.
///
/// They have no key to refer to, so they are `missing` too.
extension PushTransaction {
    func dependsOnMissing(_ edit: RowEdit) -> Bool {
        switch edit.action {
        case .create(let new): isOpen(new) || hasOpenPart(edit.id)
        case .edit(let groups): groups.contains { isOpen($0.edited) }
        case .delete: false
        }
    }

    private func isOpen(_ values: FieldValues) -> Bool {
        values.pending.contains { writer.reference($0.id) == nil }
    }

    /// The key of a new row may contain the keys of other new rows.
    private func hasOpenPart(_ id: RowID?) -> Bool {
        guard let id, id.key == nil else { return false }
        return id.parts.contains { part in
            if case .temporary(let other) = part { writer.reference(other) == nil } else { false }
        }
    }

    /// Returns a creation that depends on a missing row; an existing row is found, so that the answer contains it.
    func uncreated(_ row: EditedRow, root: [Value]?) -> FoundRow {
        if row.section.kind == .root { return FoundRow(root.map { .present($0) } ?? .unreachable) }
        let sent = row.edit.id?.key.map { RowLabel.key($0) } ?? row.edit.id?.temporary.map { .temporary($0) }
        return FoundRow(.unreachable, item: row.section.kind == .list ? sent : nil)
    }
}

extension RowDecision {
    mutating func showCurrent(_ row: [Value]) {
        for index in outcomes.indices {
            guard let sides = outcomes[index].sides else { continue }
            outcomes[index].sides = Sides(
                base: sides.base, current: .row(row), edited: sides.edited, written: .row(row))
        }
    }
}
