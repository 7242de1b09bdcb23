/// A base that is not of its column's type, which a loose column may all the same hold.
///
/// Only the row itself shows whether the client read it there or made it up.
struct ForeignBase {
    private let section: Section
    private let digest: EditEvaluator.Digest

    init(_ section: Section, digest: @escaping EditEvaluator.Digest) {
        self.section = section
        self.digest = digest
    }

    /// - Parameter row: nil where it is gone; then nobody can have read such a base there.
    /// - Throws: a 400 `Problem` with the path of a base that is neither of the column's type nor what the row holds.
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
            // Mostly the base is what stands there.
            guard row?[column] != value else { continue }
            let type = section.columns[column].type
            guard type.isForeign(value), !isShown(base, of: group, in: row) else { continue }
            throw Problem(
                .invalidValue, detail: "“\(path(field))” is not of the column's type, \(type.name).", path: path(field))
        }
    }

    /// Returns true where the row looks like the base on the wire, where an integer beyond 2^53 is a text.
    private func isShown(_ base: FieldValues, of group: Int, in row: [Value]?) -> Bool {
        guard let row else { return false }
        return digest(section, group, base.values) == digest(section, group, section.values(of: group, in: row))
    }
}
