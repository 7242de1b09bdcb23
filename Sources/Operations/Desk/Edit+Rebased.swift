import MergeCore

extension Edit {
    /// Returns the edit with the values of a record as its bases, so that it replaces them.
    ///
    /// - Parameter record: the current record; nil if it does not exist.
    func rebased(on record: Record?) -> Edit {
        guard let record else { return self }
        let rebased = rows.map { row in
            guard let current = record.row(row.section, key: row.id?.key, of: resource) else { return row }
            return row.rebased(on: current, in: resource.sections[row.section])
        }
        return Edit(resource: resource, id: id, rows: rebased, path: path, reversals: reversals, isForced: true)
    }
}

extension RowEdit {
    fileprivate func rebased(on current: [Value], in section: Section) -> RowEdit {
        func base(_ group: Int) -> FieldValues {
            FieldValues(fields: Array(section.groups[group].fields), values: section.values(of: group, in: current))
        }
        let rebased: RowAction =
            switch action {
            case .create: action
            case .edit(let groups):
                .edit(
                    groups.map { edit in
                        GroupEdit(
                            group: edit.group, base: .values(base(edit.group)), edited: edit.edited, path: edit.path,
                            isRowForm: edit.isRowForm)
                    })
            case .delete(let groups): .delete(groups.map { GroupBase(group: $0.group, base: base($0.group)) })
            }
        return RowEdit(section: self.section, id: id, action: rebased, path: path, extras: extras)
    }
}

extension Record {
    /// Returns a row; nil if it does not exist.
    fileprivate func row(_ section: Int, key: RecordKey?, of resource: Resource) -> [Value]? {
        switch sections[section] {
        case .one(let row): row
        case .many(let rows): key.flatMap { key in rows.first { resource.sections[section].isKey(key, of: $0) } }
        }
    }
}
