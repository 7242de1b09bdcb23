import MergeCore
import RecordStore

/// Finds what the database will delete or change by itself when a row goes.
///
/// Foreign keys that cascade fire no triggers of the other table and are missing from the row log, so the only time to
/// see their victims is before the delete.
struct CascadeFinder {
    let schema: DatabaseSchema
    let session: any StoreSession
    let dialect: any Dialect
    private static let maximumDepth = 15
    private static let maximumRows = 10_000

    /// - Parameters:
    ///   - columns: the columns of the row, parallel to `row`.
    ///   - table: the table that the row goes from.
    func victims(of row: [Value], _ columns: [Column], in table: TableName) throws(StoreError) -> [Cascade] {
        var found: [Cascade] = []
        var count = 0
        try follow([row], of: table, columns: columns, depth: 0, into: &found, count: &count)
        return found
    }

    private func follow(
        _ rows: [[Value]], of table: TableName, columns: [Column], depth: Int, into found: inout [Cascade],
        count: inout Int
    ) throws(StoreError) {
        guard depth < Self.maximumDepth, !rows.isEmpty else { return }
        for dependent in schema.dependents[table] ?? [] {
            guard let shape = shape(dependent) else { continue }
            let positions = dependent.targetColumns.compactMap { name in columns.firstIndex { $0.name == name } }
            guard positions.count == dependent.targetColumns.count else { continue }
            let links = rows.map { row in positions.map { row[$0] } }.filter { !$0.contains(.null) }
            guard !links.isEmpty else { continue }
            var victims: [[Value]] = []
            var start = 0
            while start < links.count {
                let end = min(start + SectionSQL.maximumBatch, links.count)
                victims += try session.query(
                    SectionSQL.of(shape.section, dialect).select(
                        where: shape.links, in: Array(links[start..<end]), locking: true, limit: Self.maximumRows))
                start = end
            }
            if victims.isEmpty { continue }
            count += victims.count
            guard count < Self.maximumRows else {
                throw StoreError(
                    .tooLarge,
                    "the delete would take more than \(Self.maximumRows) rows of other tables along; delete them first")
            }
            found.append(
                Cascade(
                    table: dependent.table, effect: dependent.effect, columns: shape.section.columns,
                    nameCount: shape.nameCount, links: shape.links, rows: victims))
            if dependent.effect == .delete {
                try follow(
                    victims, of: dependent.table, columns: shape.section.columns, depth: depth + 1, into: &found,
                    count: &count)
            }
        }
    }

    private struct Shape {
        let section: Section
        let nameCount: Int
        let links: [Int]
    }

    /// All columns of the other table that can be put back, those that name a row first.
    private func shape(_ dependent: Dependent) -> Shape? {
        guard let table = schema.tables[dependent.table] else { return nil }
        let naming = table.primaryKey.isEmpty ? dependent.columns : table.primaryKey
        let needed = naming + dependent.columns + (schema.dependents[dependent.table] ?? []).flatMap(\.targetColumns)
        var columns: [Column] = []
        for name in needed where !columns.contains(where: { $0.name == name }) {
            guard let column = table.column(name), let type = column.keyType else { return nil }
            columns.append(column.column(as: type))
        }
        columns += table.restorableColumns.filter { column in !columns.contains { $0.name == column.name } }
        let section = Section(
            name: dependent.constraint, kind: .root,
            table: SectionTable(dependent.table, columns: columns, keyCount: table.primaryKey.count))
        let links = dependent.columns.compactMap { name in columns.firstIndex { $0.name == name } }
        return Shape(section: section, nameCount: naming.count, links: links)
    }
}
