import MergeCore
import RecordStore

/// References to rows that are hidden from a client, which the database would accept.
///
/// Only references that the client sent count. The rules and the journal choose the others.
extension PushTransaction {
    /// Returns the refusal of a row that refers to a row hidden from its client.
    ///
    /// The caller throws it after the write. So errors of the database come first, as for a missing row.
    ///
    /// - Parameters:
    ///   - current: the current row; nil for an insertion.
    ///   - root: the row of its record; nil if the row is the root itself.
    func hiddenReference(
        _ assignments: [Assignment], of row: EditedRow, current: [Value]?, root: [Value]?
    ) throws(PushStop) -> PushStop? {
        guard let viewer = run.viewer(of: row.index),
            let keys = run.active.schema.tables[row.section.table]?.foreignKeys, !keys.isEmpty
        else { return nil }
        let sent = row.sentColumns
        for key in keys {
            let columns = key.columns.compactMap { name in
                row.section.columns.firstIndex { $0.name.lowercased() == name.lowercased() }
            }
            let chosen = columns.filter { sent.contains($0) }
            guard columns.count == key.columns.count, !chosen.isEmpty,
                current == nil || assignments.contains(where: { chosen.contains($0.column) })
            else { continue }
            let values = columns.compactMap { column in
                assignments.first { $0.column == column }?.value ?? current?[column]
                    ?? (current == nil ? linked(column, of: row, root: root) : nil)
            }
            // A foreign key with a NULL part refers to nothing.
            if values.count < columns.count || values.contains(.null) { continue }
            if try !facts.isHidden(values, by: key, from: viewer, &writer) { continue }
            if run.batch.isShared { throw .again(.alone) }
            // The key of a new row and its link to the record may be foreign keys too.
            let whole =
                assignments
                + zip(columns, values).filter { pair in !assignments.contains { $0.column == pair.0 } }
                .map { Assignment(column: $0, value: $1) }
            return try ConstraintExplainer(row: row, run: run)
                .refusal(run.dialect.violation(of: key), assignments: whole, current: current)
        }
        return nil
    }

    func refuse(_ refusal: PushStop?) throws(PushStop) {
        guard let refusal else { return }
        try writer.flush()
        throw refusal
    }

    /// Returns a column's value that the key or the record of a new row determines.
    private func linked(_ column: Int, of row: EditedRow, root: [Value]?) -> Value? {
        let section = row.section
        if let link = section.parent.first(where: { $0.column == column }) { return root?[link.rootColumn] }
        guard column < section.keyCount, let id = row.edit.id, id.parts.indices.contains(column) else { return nil }
        return writer.keys.value(of: id.parts[column])
    }
}

extension EditedRow {
    /// The columns whose values the client chooses: those of its fields, of the row's key and of its record.
    fileprivate var sentColumns: Set<Int> {
        let fields: [Int] =
            switch edit.action {
            case .create(let new): new.fields
            case .edit(let groups): groups.flatMap(\.edited.fields)
            case .delete: []
            }
        return Set(fields.map { section.fields[$0].column }).union(0..<section.keyCount)
            .union(section.parent.map(\.column))
    }
}
