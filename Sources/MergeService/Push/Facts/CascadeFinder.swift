import MergeCore
import RecordStore

/// Finds the rows that the database will delete or change with a row, through all foreign keys.
///
/// Cascades fire no triggers of the other table and are missing from the row log. So the rows must be found before the
/// write. Like the database, the search compares by collation.
struct CascadeFinder {
    let schema: DatabaseSchema
    let kept: KeptColumns
    let session: any StoreSession
    let dialect: any Dialect
    private static let maximumDepth = 15
    private static let maximumRows = 10_000

    struct Step {
        let cascade: Cascade
        /// Parallel to the rows of the cascade; nil if they are deleted.
        let after: [[Value]]?
    }

    private struct Change {
        let before: [Value]
        /// nil if the row is deleted.
        let after: [Value]?
    }

    private struct Run {
        struct Row: Hashable {
            /// nil if the row is deleted.
            let constraint: String?
            let table: TableName
            let key: [Value]
        }

        var steps: [Step] = []
        var count = 0
        var seen: Set<Row> = []
    }

    /// Finds the cascades of a deletion; `columns` is parallel to `row`.
    func steps(deleting row: [Value], _ columns: [Column], from table: TableName) throws(StoreError) -> [Step] {
        var run = Run()
        try follow([Change(before: row, after: nil)], of: table, columns, depth: 0, &run)
        return run.steps
    }

    /// Finds the cascades of an update; `columns` is parallel to `row`.
    func steps(
        updating row: [Value], to after: [Value], _ columns: [Column], in table: TableName
    ) throws(StoreError) -> [Step] {
        var run = Run()
        try follow([Change(before: row, after: after)], of: table, columns, depth: 0, &run)
        return run.steps
    }

    private func follow(
        _ changes: [Change], of table: TableName, _ columns: [Column], depth: Int, _ run: inout Run
    ) throws(StoreError) {
        guard depth < Self.maximumDepth, !changes.isEmpty else { return }
        for dependent in schema.dependents[table] ?? [] {
            let positions = dependent.targetColumns.compactMap { name in columns.firstIndex { $0.name == name } }
            guard positions.count == dependent.targetColumns.count, let shape = shape(dependent) else { continue }
            var deleted: [[Value]] = []
            var cleared: [[Value]] = []
            var changed: [(link: [Value], new: [Value])] = []
            for change in changes {
                let link = positions.map { change.before[$0] }
                let new = change.after.map { after in positions.map { after[$0] } }
                if link.contains(.null) || link == new { continue }
                switch new == nil ? dependent.onDelete : dependent.onUpdate {
                case .delete: deleted.append(link)
                case .setNull: cleared.append(link)
                case .update: if let new { changed.append((link, new)) }
                case nil: break
                }
            }
            let next = try [
                find(deleted, of: dependent, with: shape, in: &run) { _ in nil },
                find(cleared, of: dependent, with: shape, in: &run) { row in
                    shape.setting([Value](repeating: .null, count: shape.links.count), in: row)
                },
            ]
            var updated: [Change] = []
            for (link, new) in changed {
                updated += try find([link], of: dependent, with: shape, in: &run) { shape.setting(new, in: $0) }
            }
            for changes in next + [updated] {
                note(changes, of: dependent, with: shape, in: &run)
                try follow(changes, of: dependent.table, shape.columns, depth: depth + 1, &run)
            }
        }
    }

    /// Reads and locks the rows that refer to some values, except rows found before.
    private func find(
        _ links: [[Value]], of dependent: Dependent, with shape: Shape, in run: inout Run, after: ([Value]) -> [Value]?
    ) throws(StoreError) -> [Change] {
        var changes: [Change] = []
        var rest = links[...]
        while !rest.isEmpty {
            let some = rest.prefix(SectionSQL.maximumBatch)
            rest = rest.dropFirst(some.count)
            for row in try session.query(statement(for: Array(some), of: dependent, with: shape)) {
                let after = after(row)
                let name = Run.Row(
                    constraint: after == nil ? nil : dependent.constraint, table: dependent.table,
                    key: Array(row.prefix(shape.keyCount)))
                if shape.keyCount > 0, !run.seen.insert(name).inserted { continue }
                changes.append(Change(before: row, after: after))
            }
        }
        run.count += changes.count
        guard run.count < Self.maximumRows else {
            throw StoreError(
                .tooLarge,
                "the write would change more than \(Self.maximumRows) rows of other tables along; change them first")
        }
        return changes
    }

    private func statement(for links: [[Value]], of dependent: Dependent, with shape: Shape) -> Statement {
        let target = schema.tables[dependent.target]
        let one = zip(dependent.columns, dependent.targetColumns).map { own, name in
            dialect.quoted(own) + " = ?" + dialect.comparing(under: target?.column(name)?.collation)
        }.joined(separator: " AND ")
        let names = shape.columns.map { dialect.quoted($0.name) }.joined(separator: ", ")
        let any = repeatElement("(" + one + ")", count: links.count).joined(separator: " OR ")
        return Statement(
            sql: "SELECT \(names) FROM \(dialect.quoted(dependent.table)) WHERE (\(any)) LIMIT \(Self.maximumRows)"
                + dialect.lockingClause,
            binds: links.flatMap { link in zip(shape.links, link).map { Bind($1, shape.columns[$0].type) } },
            columns: shape.columns)
    }

    /// An undo must set columns again that become NULL, so they are separate steps.
    private func note(_ changes: [Change], of dependent: Dependent, with shape: Shape, in run: inout Run) {
        guard let first = changes.first else { return }
        func step(_ effect: Cascade.Effect, links: [Int], rows: [Change]) -> Step {
            Step(
                cascade: Cascade(
                    table: dependent.table, effect: effect, columns: shape.columns, nameCount: shape.nameCount,
                    links: links, rows: rows.map(\.before)),
                after: effect == .delete ? nil : rows.compactMap(\.after))
        }
        guard let after = first.after else { return run.steps.append(step(.delete, links: shape.links, rows: changes)) }
        let cleared = shape.links.filter { after[$0] == .null && first.before[$0] != .null }
        run.steps.append(
            cleared.isEmpty
                ? step(.update, links: shape.links, rows: changes) : step(.setNull, links: cleared, rows: changes))
    }

    private struct Shape {
        let columns: [Column]
        let keyCount: Int
        let nameCount: Int
        let links: [Int]

        func setting(_ values: [Value], in row: [Value]) -> [Value] {
            var row = row
            for (link, value) in zip(links, values) { row[link] = value }
            return row
        }
    }

    /// The key comes first, then the columns of foreign keys, then the kept columns.
    private func shape(_ dependent: Dependent) -> Shape? {
        guard let table = schema.tables[dependent.table] else { return nil }
        let naming = table.primaryKey.isEmpty ? dependent.columns : table.primaryKey
        let needed = naming + dependent.columns + (schema.dependents[dependent.table] ?? []).flatMap(\.targetColumns)
        var columns: [Column] = []
        for name in needed where !columns.contains(where: { $0.name == name }) {
            guard let column = table.column(name), let type = column.keyType else { return nil }
            columns.append(column.column(as: type))
        }
        columns += kept[dependent.table].filter { column in !columns.contains { $0.name == column.name } }
        let links = dependent.columns.compactMap { name in columns.firstIndex { $0.name == name } }
        return Shape(columns: columns, keyCount: table.primaryKey.count, nameCount: naming.count, links: links)
    }
}
