import MergeCore

extension PushRun {
    /// Leaves keys that the database numbers to the database.
    ///
    /// Whoever chooses one may choose the last, after which no row can be created any more. A row that comes back keeps
    /// its key.
    ///
    /// - Throws: a 400 `Problem` where a row is to be inserted under a number of the client's.
    func checkKey(of edit: RowEdit, _ section: Section, _ step: PushPlan.Step) throws(Problem) {
        guard edit.isCreation, !section.allowsClientKeys, let column = section.generatedKeyColumn,
            let parts = edit.id?.parts, parts.indices.contains(column), case .value = parts[column],
            !section.parent.contains(where: { $0.column == column })
        else { return }
        let path = (edit.section == 0 ? step.edit.path : edit.path).member("id")
        throw Problem(
            status: 400, code: "generated-key", title: "The database numbers these rows",
            detail:
                "“\(path)” names a row that does not exist, and its key is given by the database; leave it out, or send "
                + "a temporary id.", path: path, retry: false)
    }
}
