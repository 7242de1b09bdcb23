/// Checks bases that do not have their column's type, but may be in a loose column.
///
/// Only the current row shows if the client can have read such a base.
struct ForeignBase {
    private let section: Section
    private let digest: EditEvaluator.Digest

    init(_ section: Section, digest: @escaping EditEvaluator.Digest) {
        self.section = section
        self.digest = digest
    }

    /// Checks the bases of an edit against the current row, or nil if the row is gone.
    ///
    /// - Throws: a 400 `Problem` with the path of a base that neither has the column's type nor is in the row.
    func check(_ edit: RowEdit, against row: [Value]?) throws(Problem) {
        switch edit.action {
        case .create: return
        case .edit(let groups):
            for group in groups {
                guard case .values(let base) = group.base else { continue }
                let isBare = section.groups[group.group].isBare && !group.isRowForm
                try check(base, of: group.group, against: row) { field in
                    let path = group.path.member("old")
                    return isBare ? path : path.member(section.fields[field].name)
                }
            }
        case .delete(let groups):
            for group in groups {
                try check(group.base, of: group.group, against: row) {
                    edit.path.member("old").member(section.fields[$0].name)
                }
            }
        }
    }

    private func check(
        _ base: FieldValues, of group: Int, against row: [Value]?, path: (Int) -> WirePath
    ) throws(Problem) {
        for (field, value) in zip(base.fields, base.values) {
            let column = section.fields[field].column
            // Usually the base equals the current value.
            guard row?[column] != value else { continue }
            let type = section.columns[column].type
            guard type.isForeign(value), !isShown(base, of: group, in: row) else { continue }
            throw Problem(
                .invalidValue, detail: "“\(path(field))” does not have the column's type, \(type.name).",
                path: path(field))
        }
    }

    /// Returns true if base and row have equal wire forms, in which an integer beyond 2^53 is a text.
    private func isShown(_ base: FieldValues, of group: Int, in row: [Value]?) -> Bool {
        guard let row else { return false }
        return digest(section, group, base.values) == digest(section, group, section.values(of: group, in: row))
    }
}
