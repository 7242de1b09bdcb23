/// Checks bases of another type than their column's, which only a column without an enforced type can contain.
///
/// Such a base is accepted if the row contains it, or if the edited value is the same. Any other base is more likely a fault
/// of the client.
struct ForeignBase {
    private let section: Section
    private let digest: EditEvaluator.Digest

    init(_ section: Section, digest: @escaping EditEvaluator.Digest) {
        self.section = section
        self.digest = digest
    }

    /// Checks the bases of an edit against the current row, or nil if the row is gone.
    ///
    /// - Throws: a 400 `Problem` with the path of a base that does not have the column's type.
    func check(_ edit: RowEdit, against row: [Value]?) throws(Problem) {
        guard case .edit(let groups) = edit.action else { return }
        for group in groups {
            guard case .values(let base) = group.base else { continue }
            for (field, value) in zip(base.fields, base.values) {
                let column = section.columns[section.fields[field].column]
                guard column.type.isForeign(value), !Self.isNumberOfBoolean(value, of: column.type) else { continue }
                let isEcho = zip(group.edited.fields, group.edited.values).contains { $0 == field && $1 == value }
                if isEcho || row?[section.fields[field].column] == value { continue }
                if isShown(base, of: group.group, in: row) { continue }
                let isBare = section.groups[group.group].isBare && !group.isRowForm
                let old = group.path.member("old")
                let path = isBare ? old : old.member(section.fields[field].name)
                throw Problem(
                    .invalidValue, detail: "“\(path)” \(column.type.foreignReason).", path: path)
            }
        }
    }

    /// Returns true for a number in a boolean column, which old programs often write.
    private static func isNumberOfBoolean(_ value: Value, of type: ColumnType) -> Bool {
        guard type == .boolean, case .integer = value else { return false }
        return true
    }

    /// Returns true if base and row have equal wire forms, in which an integer beyond 2^53 is a text.
    private func isShown(_ base: FieldValues, of group: Int, in row: [Value]?) -> Bool {
        guard let row else { return false }
        return digest(section, group, base.values) == digest(section, group, section.values(of: group, in: row))
    }
}
