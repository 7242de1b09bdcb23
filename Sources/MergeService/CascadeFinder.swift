import MergeCore
import RecordStore

/// Finds what the database will delete or change by itself when a row goes.
///
/// Foreign keys that cascade fire no triggers of the other table and are missing from the row log, so the only time to
/// see their victims is before the delete.
struct CascadeFinder {
    let schema: DatabaseSchema
    let session: any StoreSession
    let dialect: Dialect
    private static let maximumDepth = 15
    private static let maximumRows = 10_000

    /// - Parameters:
    ///   - columns: the columns of the row, parallel to `row`.
    ///   - table: the table that the row goes from.
    func victims(of row: [Value], _ columns: [Column], in table: TableName) throws(StoreError) -> [Cascade] {
        var found: [Cascade] = []
        var count = 0
        try follow([row], columns, table, 0, &found, &count)
        return found
    }

    private func follow(
        _ rows: [[Value]], _ columns: [Column], _ table: TableName, _ depth: Int, _ found: inout [Cascade],
        _ count: inout Int
    ) throws(StoreError) {
        guard depth < Self.maximumDepth, !rows.isEmpty else { return }
        for dependent in schema.dependents[table] ?? [] {
            guard let shape = shape(dependent) else { continue }
            let positions = dependent.targetColumns.compactMap { name in columns.firstIndex { $0.name == name } }
            guard positions.count == dependent.targetColumns.count else { continue }
            let links = rows.map { row in positions.map { row[$0] } }.filter { !$0.contains(.null) }
            guard !links.isEmpty else { continue }
            let place = Array(shape.section.columns.count - dependent.columns.count..<shape.section.columns.count)
            var victims: [[Value]] = []
            var start = 0
            while start < links.count {
                let end = min(start + SectionSQL.maximumBatch, links.count)
                victims += try session.query(
                    SectionSQL(shape.section, dialect).select(
                        where: place, in: Array(links[start..<end]), locking: true, limit: Self.maximumRows))
                start = end
            }
            if victims.isEmpty { continue }
            count += victims.count
            guard count < Self.maximumRows else {
                throw StoreError(
                    .tooLarge,
                    "the delete would take more than \(Self.maximumRows) rows of other tables along; delete them first")
            }
            let names = shape.keyCount > 0 ? Array(0..<shape.keyCount) : place
            found.append(
                Cascade(
                    table: dependent.table, effect: dependent.effect.rawValue,
                    columns: names.map { shape.section.columns[$0] }, rows: victims.map { row in names.map { row[$0] } }
                ))
            if dependent.effect == .delete {
                try follow(victims, shape.section.columns, dependent.table, depth + 1, &found, &count)
            }
        }
    }

    /// The columns of the other table that matter: its key, what others refer to, and last the foreign key itself.
    private func shape(_ dependent: Dependent) -> (section: Section, keyCount: Int)? {
        guard let table = schema.tables[dependent.table] else { return nil }
        let referred = (schema.dependents[dependent.table] ?? []).flatMap(\.targetColumns)
        var names = table.primaryKey
        for name in referred where !names.contains(name) { names.append(name) }
        var columns: [Column] = []
        for name in names + dependent.columns {
            guard let column = table.column(name), let type = column.types.first else { return nil }
            columns.append(Column(name: name, type: type, isNullable: column.isNullable, isLoose: column.isLoose))
        }
        let section = Section(
            name: dependent.constraint, kind: .root, table: dependent.table, columns: columns,
            keyCount: table.primaryKey.count, generatedKeyColumn: nil, fields: [], groups: [], readOnly: [], parent: [],
            order: [], onMissing: Ruled(.drop), onDeleteConflict: Ruled(.delete))
        return (section, table.primaryKey.count)
    }
}
