import MergeCore
import RecordStore

/// The rows that a write to a section's table may change besides its own row.
///
/// It is an object, because each row reads it.
final class Footprint: Sendable {
    enum Reach: Sendable {
        /// The write changes only its row.
        case row
        /// Rows of other tables may change: the table may have triggers, and the database user may not be allowed to
        /// list them. Or access conditions of other tables' rows test a column of its rows.
        case otherTables
        /// Any row may change: the table is a view, or its engine has no transactions.
        case everything

        fileprivate func union(_ other: Reach) -> Reach {
            switch (self, other) {
            case (.everything, _), (_, .everything): .everything
            case (.otherTables, _), (_, .otherTables): .otherTables
            case (.row, .row): .row
            }
        }
    }

    let table: TableName
    let reach: Reach
    /// True if the database writes no other row and no other column along with a write.
    let writesOnlyItsRow: Bool
    /// The reach of a deletion, which foreign keys may extend.
    let deletionReach: Reach
    /// True if a write to any table may change the section's rows, or which of them exist for clients: the section reads
    /// a view, or its `where` reads other rows.
    let dependsOnOtherRows: Bool
    /// True if an update may change columns that it does not set, so that a search finds other rows than before.
    let mayMoveRows: Bool
    /// True if several sections use the table, and a check of one may revert a write through another.
    let isCheckedElsewhere: Bool
    let isShared: Bool
    /// True if these sections find rows by different columns or types; then only the whole table can be named.
    let isAmbiguous: Bool
    /// The columns by which the section finds its rows, in lower case.
    private let keyColumns: [String]
    /// True if columns besides the key link rows to their record.
    ///
    /// No other read would find a record whose key a trigger changes.
    let linksBesidesKey: Bool
    /// The columns of unique indexes; the order of their writes decides whether rows collide.
    private let uniqueColumns: WatchedColumns
    /// The columns by which a section of the table searches rows.
    private let searchedColumns: WatchedColumns
    /// The columns that foreign keys refer to.
    private let referencedColumns: WatchedColumns
    /// The root's columns that link rows to their record, or that access conditions test.
    private let recordColumns: WatchedColumns
    /// True if a trigger of the table may change the links.
    private let mayTriggerLinks: Bool

    /// - Parameters:
    ///   - resource: the resource whose root the section is; nil for other sections.
    ///   - deciding: the names of the tables with rows whose access conditions test rows of this table.
    init(
        _ section: Section, of resource: Resource?, among sections: [Section], schema: DatabaseSchema,
        dialect: any Dialect, decidingAbout deciding: Set<TableName> = []
    ) {
        let name = section.table
        table = name
        let same = sections.filter { $0.table == name }
        isShared = same.count > 1
        isCheckedElsewhere =
            same.count > 1 && same.contains { $0.checks.contains { $0.onFailure == .serverWins } }
        keyColumns = section.addressNames
        isAmbiguous =
            Set(same.map(\.addressNames)).count > 1
            || Set(same.map { $0.addressColumns.map(\.type) }).count > 1
        let known = schema.tables[section.table]
        let written = Self.reach(known, in: schema, dialect)
        writesOnlyItsRow = written == .row
        mayMoveRows = written != .row
        dependsOnOtherRows =
            known?.isView ?? true || section.visibility.map { SQLWords.readsOtherRows($0.value) } ?? false
        reach = written.union(deciding.isEmpty ? .row : deciding.contains(name) ? .everything : .otherTables)
        let columns = { (names: [String]) in WatchedColumns(names, of: section, in: known) }
        uniqueColumns = columns(
            known.map { $0.uniqueIndexes.flatMap(\.columns) + $0.constraints.otherUniqueColumns } ?? [])
        searchedColumns = columns(same.flatMap(\.searchedColumns).map(\.name))
        let references = schema.tables.values.flatMap(\.foreignKeys).filter { $0.target == name }
        referencedColumns = columns(references.flatMap(\.targetColumns))
        let links = resource?.sections.flatMap(\.parent).map(\.rootColumn) ?? []
        linksBesidesKey = links.contains { $0 >= section.keyCount }
        mayTriggerLinks = linksBesidesKey && written != .row
        let record = (links + (resource?.access?.columns ?? [])).map { section.columns[$0] }
        recordColumns = columns(record.map { ($0.lookup?.own ?? $0).name })
        deletionReach = Self.deletionReach(of: known, reach: reach, in: schema, dialect: dialect)
    }

    private static func reach(_ table: TableSchema?, in schema: DatabaseSchema, _ dialect: any Dialect) -> Reach {
        guard let table, !table.isView, table.isTransactional else { return .everything }
        // A trigger may change a row of another table, from which a foreign key changes rows of this table.
        if !table.triggers.isEmpty, table.foreignKeys.contains(where: { mayChangeRows($0, of: table, in: schema) }) {
            return .everything
        }
        let showsTriggers = dialect.showsWholeSchema || table.rights?.contains("TRIGGER") == true
        if table.triggers.isEmpty, showsTriggers { return .row }
        return dialect.triggersReachTheirTable ? .everything : .otherTables
    }

    /// Returns true if a write to the target of a foreign key may change or delete rows of its table.
    private static func mayChangeRows(_ key: ForeignKey, of table: TableSchema, in schema: DatabaseSchema) -> Bool {
        let effects = schema.dependents[key.target]?.first { $0.constraint == key.name && $0.table == table.name }
        // The database user may not be allowed to list the effects.
        return effects.map { $0.onDelete != nil || $0.onUpdate != nil } ?? true
    }

    /// Extends the reach by cascades.
    ///
    /// Some database users can list only the foreign keys of tables on which they have rights. A deletion may then
    /// cascade through unlisted tables back to this table. That needs a foreign key of this table to itself, to an
    /// unlisted table or to a dependent.
    private static func deletionReach(
        of table: TableSchema?, reach: Reach, in schema: DatabaseSchema, dialect: any Dialect
    ) -> Reach {
        guard let table, reach != .everything else { return .everything }
        let dependents = schema.dependents(ofDeletionFrom: table.name)
        if dialect.showsWholeSchema { return dependents.isEmpty ? reach : .everything }
        let comesBack = table.foreignKeys.contains { key in
            key.target == table.name || schema.tables[key.target] == nil
                || dependents.contains { $0.table == key.target }
        }
        return comesBack ? .everything : .otherTables
    }

    /// Returns the name of a row for the order of reads and writes; the table's if its sections use several keys.
    func reference(to key: RecordKey) -> RowName { isAmbiguous ? RowName(anyRowOf: table) : name(of: key) }

    func name(of key: RecordKey) -> RowName { RowName(table: table, columns: keyColumns, key: key) }

    func writesUnique(_ assignments: [Assignment]) -> Bool { uniqueColumns.areWritten(by: assignments) }

    func writesSearched(_ assignments: [Assignment]) -> Bool { searchedColumns.areWritten(by: assignments) }

    func writesReferenced(_ assignments: [Assignment]) -> Bool { referencedColumns.areWritten(by: assignments) }

    /// Returns the rows that an update may change besides its own row.
    func reach(of assignments: [Assignment]) -> Reach { writesReferenced(assignments) ? .everything : reach }

    /// Returns true if an update of the root may change which rows belong to its record, or the client's rights on it.
    func mayChangeRecord(_ assignments: [Assignment]) -> Bool {
        mayTriggerLinks || recordColumns.areWritten(by: assignments)
            || linksBesidesKey && writesReferenced(assignments)
    }
}

/// Columns of which a write may change one.
private struct WatchedColumns: Sendable {
    private let positions: Set<Int>
    /// True if one is generated or stamped, so that an update of any column may change it.
    private let isFilled: Bool

    init(_ names: [String], of section: Section, in table: TableSchema?) {
        let names = Set(names.map { $0.lowercased() })
        positions = Set(section.columns.indices.filter { names.contains(section.columns[$0].name.lowercased()) })
        isFilled = table?.columns.contains { $0.serverOwned != nil && names.contains($0.name.lowercased()) } ?? false
    }

    func areWritten(by assignments: [Assignment]) -> Bool {
        isFilled || !positions.isEmpty && assignments.contains { positions.contains($0.column) }
    }
}

struct Footprints: Sendable {
    private let bySection: [ObjectIdentifier: Footprint]
    private let schema: DatabaseSchema
    private let dialect: any Dialect

    init(_ catalog: Catalog, schema: DatabaseSchema, dialect: any Dialect) {
        let sections = catalog.resources.flatMap(\.sections)
        let roots = Dictionary(catalog.resources.map { ($0.root.origin, $0) }) { first, _ in first }
        var found: [ObjectIdentifier: Footprint] = [:]
        var deciding: [TableName: Set<TableName>] = [:]
        for resource in catalog.resources {
            for step in resource.access?.steps ?? [] {
                deciding[step.table, default: []].insert(resource.root.table)
            }
        }
        for section in sections {
            found[section.origin] = Footprint(
                section, of: roots[section.origin], among: sections, schema: schema, dialect: dialect,
                decidingAbout: deciding[section.table] ?? [])
        }
        bySection = found
        self.schema = schema
        self.dialect = dialect
    }

    subscript(section: Section) -> Footprint {
        bySection[section.origin]
            ?? Footprint(section, of: nil, among: [section], schema: schema, dialect: dialect)
    }
}

extension Section {
    /// The columns that are the key of rows, link rows to records or identify new rows.
    ///
    /// A section does not write its own key, but another section of the table may.
    fileprivate var searchedColumns: [Column] {
        (addressPositions + parent.map(\.column) + (identity?.value ?? [])).map { columns[$0] }
    }
}
