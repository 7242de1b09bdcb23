import MergeCore
import RecordStore

/// Advice about parent columns that may link one row to several records, or several rows of a singleton to one record.
struct LinkAdvice {
    let section: Section
    let table: TableSchema
    let root: Section
    let rootTable: TableSchema
    let place: Place

    func add(to findings: inout Findings) {
        let own = Set(section.parent.map { section.columns[$0.column].name })
        let tied = Set(section.parent.map { root.columns[$0.rootColumn].name })
        if !Self.areUnique(tied, in: root, of: rootTable) {
            findings.warning(
                place,
                "no unique index of table “\(rootTable.name)” has the columns that section “\(section.name)” belongs to its "
                    + "record by (\(tied.sorted().joined(separator: ", "))), so several records may show the same rows, and "
                    + "deleting one of them deletes the rows of all")
        }
        if section.kind == .singleton, !Self.areUnique(own, in: section, of: table) {
            findings.warning(
                place,
                "no unique index of table “\(table.name)” keeps a record from having several rows of section "
                    + "“\(section.name)” (\(own.sorted().joined(separator: ", "))); a record with two rows cannot be read; the feed reports it as unreadable"
            )
        }
    }

    private static func areUnique(_ columns: Set<String>, in section: Section, of table: TableSchema) -> Bool {
        let key = Set(section.columns.prefix(section.keyCount).map(\.name))
        return !key.isEmpty && key.isSubset(of: columns)
            || table.uniqueIndexes.contains { Set($0.columns).isSubset(of: columns) }
    }
}
