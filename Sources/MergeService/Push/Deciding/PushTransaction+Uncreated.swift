import MergeCore
import RecordStore

/// Rows with client keys that refused edits would have created.
///
/// The plan contains only dependencies on temporary ids. A row with a client key may exist in spite of a refused
/// creation: it existed before, or another edit created it.
extension PushTransaction {
    func recordUncreated(_ step: PushPlan.Step) {
        for row in step.rows {
            guard case .create = row.action, let found = name(of: row, of: step.edit) else { continue }
            progress.uncreated[found] = step.index
        }
    }

    /// Returns the refused edit that would have created a row which this edit needs; nil if the row exists.
    func refusedCreator(of step: PushPlan.Step) throws(PushStop) -> Int? {
        if progress.uncreated.isEmpty { return nil }
        let edit = step.edit
        var creates = false
        for row in step.rows {
            if let creator = try creator(ofTargets: row, in: edit.resource.sections[row.section]) { return creator }
            if case .create = row.action {
                if row.section == 0 { creates = true }
                continue
            }
            if row.section == 0 { continue }
            let section = edit.resource.sections[row.section]
            if let key = row.id?.key, let creator = try creator(of: key, in: section) { return creator }
        }
        guard !creates, let key = edit.id.key else { return nil }
        return try creator(of: key, in: edit.resource.root)
    }

    /// Returns the refused edit that would have created the target of a new reference.
    private func creator(ofTargets row: RowEdit, in section: Section) throws(PushStop) -> Int? {
        switch row.action {
        case .delete: return nil
        case .create(let new): return try creator(ofTargets: new, beside: nil, in: section)
        case .edit(let groups):
            for group in groups {
                let base: FieldValues? = if case .values(let values) = group.base { values } else { nil }
                if let creator = try creator(ofTargets: group.edited, beside: base, in: section) { return creator }
            }
            return nil
        }
    }

    private func creator(ofTargets values: FieldValues, beside base: FieldValues?, in section: Section) throws(PushStop)
        -> Int?
    {
        for (position, field) in values.fields.enumerated() {
            let value = values.values[position]
            guard let target = section.fields[field].reference, !value.isNull, base?.values[position] != value,
                let other = run.active.catalog[target.resource]?.sections.first(where: { $0.name == target.section }),
                other.keyCount == 1
            else { continue }
            if let creator = try creator(of: RecordKey([value]), in: other) { return creator }
        }
        return nil
    }

    private func creator(of key: RecordKey, in section: Section) throws(PushStop) -> Int? {
        guard let creator = progress.uncreated[run.footprint(section).name(of: key)] else {
            return nil
        }
        let rows = try facts.rows(
            of: section, withKey: key, locking: run.session.mustLockReads, includesHidden: true, includesEquated: true,
            &writer)
        return rows.isEmpty ? creator : nil
    }

    private func name(of row: RowEdit, of edit: Edit) -> RowName? {
        let section = edit.resource.sections[row.section]
        guard section.keyCount > 0, let key = row.section == 0 ? edit.id.key : row.id?.key else { return nil }
        return run.footprint(section).name(of: key)
    }
}
