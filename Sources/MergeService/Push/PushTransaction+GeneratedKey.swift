import MergeCore

extension PushTransaction {
    /// Leaves keys that the database numbers to the database.
    ///
    /// Whoever chooses one may choose the last, after which no row can be created any more. A row that comes back keeps
    /// its key.
    ///
    /// - Throws: a 400 `Problem` where a row is to be inserted under a number of the client's.
    func checkKey(of row: EditedRow) throws(Problem) {
        let section = row.section
        guard row.edit.isCreation, !section.allowsClientKeys, let column = section.generatedKeyColumn,
            let parts = row.edit.id?.parts, parts.indices.contains(column), case .value = parts[column],
            !section.parent.contains(where: { $0.column == column })
        else { return }
        let path = (section.kind == .root ? row.step.edit.path : row.edit.path).member("id")
        throw Problem(
            .generatedKey,
            detail:
                "“\(path)” names a row that does not exist, and its key is given by the database; leave it out, or send "
                + "a temporary id.", path: path, retry: false)
    }
}
