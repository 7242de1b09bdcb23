package import MergeCore
package import RecordStore

/// A section that shows the rows of a table, seen from the table: it tells which record shows a row.
package final class TableView: Sendable {
    let resource: Resource
    let section: Section

    /// Sees a section's rows from its table.
    package init(resource: Resource, section: Section) {
        self.resource = resource
        self.section = section
    }

    /// The columns that tell which record shows a row: the key of a root row, else what ties a row to its record.
    package var columns: [Column] {
        section.kind == .root
            ? Array(section.columns.prefix(section.keyCount)) : section.parent.map { section.columns[$0.column] }
    }

    /// The values of those columns are the record's key.
    package var namesRecord: Bool {
        if section.kind == .root { return section.keyCount > 0 }
        return section.parent.count == resource.root.keyCount
            && Set(section.parent.map(\.rootColumn)) == Set(0..<resource.root.keyCount)
    }

    /// Returns the key of the record that shows a row, where its columns name it.
    package func key(_ values: [Value]) -> RecordKey? {
        guard namesRecord, !values.contains(.null) else { return nil }
        if section.kind == .root { return RecordKey(values) }
        var parts = values
        for (link, value) in zip(section.parent, values) { parts[link.rootColumn] = value }
        return RecordKey(parts)
    }

    /// Returns the question for the records that rows with these values are tied to by other columns than their keys.
    ///
    /// SQL preselects the records; `records(in:linkedBy:)` decides.
    package func preselection(
        ofRecordsLinkedBy values: [Value], _ dialect: any Dialect, locking: Bool
    ) -> Statement {
        let root = resource.root
        let linked = section.parent.map { root.columns[$0.rootColumn] }
        return RawSQL(dialect).select(
            root.columns.prefix(root.keyCount) + linked, from: root.table,
            where: zip(linked, values).map { RawValue(column: $0, value: $1) }, locking: locking)
    }

    /// Returns the keys of the records among preselected ones that rows with these values belong to.
    package func records(in rows: [[Value]], linkedBy values: [Value]) -> [RecordKey] {
        let count = resource.root.keyCount
        return rows.filter { $0.dropFirst(count).elementsEqual(values) }.map { RecordKey(Array($0.prefix(count))) }
    }
}

/// A view of a table as rows of one section are seen through it.
struct OtherView: Sendable {
    let view: TableView
    /// The positions of the view's columns in rows of the section; nil where the section does not have all of them.
    let positions: [Int]?

    init(_ view: TableView, from section: Section) {
        self.view = view
        let found = view.columns.compactMap { wanted in
            section.columns.firstIndex { $0.name.lowercased() == wanted.name.lowercased() }
        }
        positions = found.count == view.columns.count && view.namesRecord ? found : nil
    }

    /// Returns true where a write to some columns may have the row shown by another record.
    func isMoved(by assignments: [Assignment]) -> Bool {
        positions.map { positions in assignments.contains { positions.contains($0.column) } } ?? true
    }
}

/// The sections of all resources that show rows of a table besides the record that an edit names.
struct TableViews: Sendable {
    private let byTable: [String: [TableView]]
    private let bySection: [ObjectIdentifier: [OtherView]]
    /// Tables some of whose rows have guards.
    private let guardedTables: Set<String>
    private let guardedResources: Set<ObjectIdentifier>
    /// The columns that conditions of access test, in lower case, by table.
    private let testedColumns: [String: Set<String>]

    init(_ catalog: Catalog) {
        var found: [String: [TableView]] = [:]
        for resource in catalog.resources {
            for section in resource.sections {
                found[Self.name(of: section.table), default: []].append(
                    TableView(resource: resource, section: section))
            }
        }
        byTable = found
        let guarded = catalog.resources.filter { $0.sections.contains(where: \.hasGuards) }
        guardedResources = Set(guarded.map(\.origin))
        guardedTables = Set(guarded.flatMap(\.sections).filter(\.hasGuards).map { Self.name(of: $0.table) })
        var tested: [String: Set<String>] = [:]
        for resource in catalog.resources {
            let names = (resource.access?.columns ?? []).map { resource.root.columns[$0].name.lowercased() }
            if !names.isEmpty { tested[Self.name(of: resource.root.table), default: []].formUnion(names) }
        }
        testedColumns = tested
        var others: [ObjectIdentifier: [OtherView]] = [:]
        for section in catalog.resources.flatMap(\.sections) {
            let views = (found[Self.name(of: section.table)] ?? []).filter { $0.section !== section || !$0.namesRecord }
            if !views.isEmpty { others[section.origin] = views.map { OtherView($0, from: section) } }
        }
        bySection = others
    }

    /// The name by which `Footprint` tells tables apart.
    private static func name(of table: TableName) -> String { table.name.lowercased() }

    /// Returns true where some section that shows a table has guards.
    func hasGuards(_ table: TableName) -> Bool {
        !guardedTables.isEmpty && guardedTables.contains(Self.name(of: table))
    }

    /// Returns true where some section of a resource has guards.
    func hasGuards(_ resource: Resource) -> Bool {
        !guardedResources.isEmpty && guardedResources.contains(resource.origin)
    }

    /// Returns the columns of a table that conditions of access of any resource test, in lower case.
    func testedColumns(of table: TableName) -> Set<String> {
        testedColumns.isEmpty ? [] : testedColumns[Self.name(of: table)] ?? []
    }

    /// The views of a table.
    subscript(table: TableName) -> [TableView] { byTable[Self.name(of: table)] ?? [] }

    /// Returns the views through which a row of a section may be shown by other records than the one through which it is
    /// written; none for most tables.
    func others(than section: Section) -> [OtherView] { bySection[section.origin] ?? [] }
}

extension Section {
    /// Some rows, or some steps from one value to another, are guarded.
    fileprivate var hasGuards: Bool { frozenWhen != nil || groups.contains { $0.transitions != nil } }
}
