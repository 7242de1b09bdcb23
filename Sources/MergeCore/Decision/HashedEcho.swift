/// Checks values that are never written, if a client sends them with the digest of its base.
///
/// Only the row shows if such a value is an echo of an earlier read.
struct HashedEcho {
    private let section: Section
    private let digest: EditEvaluator.Digest

    init(_ section: Section, digest: @escaping EditEvaluator.Digest) {
        self.section = section
        self.digest = digest
    }

    /// Checks the edited values against the current row, or nil if the row is gone.
    ///
    /// - Throws: a 400 `Problem` with the path of a value that would be written.
    func check(_ edit: RowEdit, against row: [Value]?) throws(Problem) {
        guard case .edit(let groups) = edit.action else { return }
        for group in groups {
            guard case .digest(let base) = group.base else { continue }
            for (field, value) in zip(group.edited.fields, group.edited.values) {
                let column = section.fields[field].column
                guard let reason = section.columns[column].type.forbidsWriting(value), row?[column] != value,
                    digest(section, group.group, group.edited.values) != base
                else { continue }
                let place = group.path.member("new")
                let path = section.groups[group.group].isBare ? place : place.member(section.fields[field].name)
                throw Problem(.invalidValue, detail: "“\(path)” \(reason.reason).", path: path)
            }
        }
    }
}
