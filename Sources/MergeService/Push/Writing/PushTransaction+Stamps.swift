import MergeCore
import RecordStore

/// The stamps of written rows.
extension PushTransaction {
    /// Returns the stamped columns of a section, for a write of an edit's client.
    ///
    /// - Throws: a refusal, 403, if a claim is missing or its column cannot store it.
    func stamps(of section: Section, by row: EditedRow) throws(PushStop) -> [Assignment] {
        if section.stamps.isEmpty { return [] }
        let author = run.batch.items[run.batch.owners[row.index]].request.author
        do throws(Problem) {
            return try StampContext(time: run.time, author: author).assignments(for: section, path: row.edit.path)
        } catch {
            throw .refused(row.index, error)
        }
    }

    /// Adds the stamped columns to those of a row's insertion or update.
    func stamped(_ assignments: [Assignment], of row: EditedRow) throws(PushStop) -> [Assignment] {
        let stamps = try stamps(of: row.section, by: row)
        if stamps.isEmpty { return assignments }
        return assignments.filter { part in !stamps.contains { $0.column == part.column } } + stamps
    }
}
