import MergeCore
import RecordStore

/// The rows that a write to a section's table may change besides the one that it names.
///
/// An object, because every row asks for it.
final class Footprint: Sendable {
    /// Reach of a write beyond its row, as far as the schema tells.
    enum Reach: Sendable {
        /// The row alone.
        case row
        /// Rows of other tables as well: triggers may stand on the table, or the database user may not know of them.
        case otherTables
        /// Any row: behind a view stands anything, and an engine without transactions promises nothing.
        case everything
    }

    /// The table's name in lower case and without its schema.
    ///
    /// A table can be spelled in more than one way; taking two tables for one costs a little time, taking one for two
    /// would cost an edit.
    let table: String
    let reach: Reach
    /// Reach of a deletion, which foreign keys may carry further.
    let deletionReach: Reach
    /// More than one section of the rules stands over the table, and a check of one may take back what was written
    /// through another.
    let isCheckedElsewhere: Bool
    /// More than one section of the rules stands over the table.
    let isShared: Bool
    /// These sections find rows by different columns, so that only the table as a whole can be named.
    private let isAmbiguous: Bool
    /// Positions of columns in unique indexes: in which order they are written decides whether rows collide.
    private let uniqueColumns: Set<Int>
    /// Positions of columns that foreign keys refer to, whose rows may change along.
    private let referencedColumns: Set<Int>

    /// - Parameter sections: every section of the rules.
    init(_ section: Section, among sections: [Section], schema: DatabaseSchema, dialect: any Dialect) {
        let name = Self.name(of: section.table)
        table = name
        let same = sections.filter { Self.name(of: $0.table) == name }
        isShared = same.count > 1
        isCheckedElsewhere =
            same.count > 1 && same.contains { $0.checks.contains { $0.onFailure == .serverWins } }
        isAmbiguous = Set(same.map { $0.addressColumns.map { $0.name.lowercased() } }).count > 1
        let known = schema.tables[section.table]
        reach = Self.reach(known, dialect)
        func positions(_ names: [String]) -> Set<Int> {
            let names = Set(names.map { $0.lowercased() })
            return Set(section.columns.indices.filter { names.contains(section.columns[$0].name.lowercased()) })
        }
        uniqueColumns = positions(known?.uniqueIndexes.flatMap(\.columns) ?? [])
        let references = schema.tables.values.flatMap(\.foreignKeys).filter { Self.name(of: $0.target) == name }
        referencedColumns = positions(references.flatMap(\.targetColumns))
        deletionReach = Self.deletionReach(of: known, reach: reach, in: schema, dialect: dialect)
    }

    private static func name(of table: TableName) -> String { table.name.lowercased() }

    private static func reach(_ table: TableSchema?, _ dialect: any Dialect) -> Reach {
        guard let table, !table.isView, table.isTransactional else { return .everything }
        let showsTriggers = dialect.showsWholeSchema || table.rights?.contains("TRIGGER") == true
        if table.triggers.isEmpty, showsTriggers { return .row }
        return dialect.triggersReachTheirTable ? .everything : .otherTables
    }

    /// The reach of a deletion.
    ///
    /// A user who sees the keys of those tables alone on which it has rights may delete through tables that nobody here
    /// knows of, and come back to this one where it refers to itself or to one of those.
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

    /// Returns the reference to the row with this key.
    func reference(to key: RecordKey) -> RowReference {
        RowReference(table: table, key: isAmbiguous ? RecordKey([]) : key)
    }

    func writesUnique(_ assignments: [Assignment]) -> Bool {
        !uniqueColumns.isEmpty && assignments.contains { uniqueColumns.contains($0.column) }
    }

    func writesReferenced(_ assignments: [Assignment]) -> Bool {
        !referencedColumns.isEmpty && assignments.contains { referencedColumns.contains($0.column) }
    }
}

/// The footprints of all sections of the rules.
struct Footprints: Sendable {
    private let bySection: [ObjectIdentifier: Footprint]
    private let schema: DatabaseSchema
    private let dialect: any Dialect

    init(_ catalog: Catalog, schema: DatabaseSchema, dialect: any Dialect) {
        let sections = catalog.resources.flatMap(\.sections)
        var found: [ObjectIdentifier: Footprint] = [:]
        for section in sections {
            found[section.origin] = Footprint(section, among: sections, schema: schema, dialect: dialect)
        }
        bySection = found
        self.schema = schema
        self.dialect = dialect
    }

    subscript(section: Section) -> Footprint {
        bySection[section.origin]
            ?? Footprint(section, among: [section], schema: schema, dialect: dialect)
    }
}
