package import MergeCore
package import RecordStore

/// A section seen from its table: finds the records that contain a row.
package final class TableView: Sendable {
    let resource: Resource
    let section: Section

    /// Creates the view of a section.
    package init(resource: Resource, section: Section) {
        self.resource = resource
        self.section = section
    }

    /// The columns that identify the record of a row: a root row's key, or the link to the record.
    package var columns: [Column] {
        section.kind == .root
            ? Array(section.columns.prefix(section.keyCount)) : section.parent.map { section.columns[$0.column] }
    }

    /// True if these columns contain the record's key.
    package var namesRecord: Bool {
        if section.kind == .root { return section.keyCount > 0 }
        return section.parent.count == resource.root.keyCount
            && Set(section.parent.map(\.rootColumn)) == Set(0..<resource.root.keyCount)
    }

    /// Returns the key of a row's record, if its columns contain it.
    package func key(_ values: [Value]) -> RecordKey? {
        guard namesRecord, !values.contains(.null) else { return nil }
        if section.kind == .root { return RecordKey(values) }
        var parts = values
        for (link, value) in zip(section.parent, values) { parts[link.rootColumn] = value }
        return RecordKey(parts)
    }

    /// Builds the query for the records to which columns other than the key link a row.
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

    /// Returns the keys of the preselected records to which rows with these values belong.
    package func records(in rows: [[Value]], linkedBy values: [Value]) -> [RecordKey] {
        let count = resource.root.keyCount
        return rows.filter { $0.dropFirst(count).elementsEqual(values) }.map { RecordKey(Array($0.prefix(count))) }
    }
}

struct OtherView: Sendable {
    let view: TableView
    /// The positions of the view's columns in rows of the section.
    ///
    /// They are nil if a column is missing, or if the columns do not contain the record's key.
    let positions: [Int]?

    init(_ view: TableView, from section: Section) {
        self.view = view
        let found = view.columns.compactMap { wanted in
            section.columns.firstIndex { $0.name.lowercased() == wanted.name.lowercased() }
        }
        positions = found.count == view.columns.count && view.namesRecord ? found : nil
    }

    /// Returns true if a write to some columns may move the row to another record.
    func isMoved(by assignments: [Assignment]) -> Bool {
        positions.map { positions in assignments.contains { positions.contains($0.column) } } ?? true
    }
}

/// The sections of all resources that contain rows of a table.
struct TableViews: Sendable {
    private let byTable: [String: [TableView]]
    private let bySection: [ObjectIdentifier: [OtherView]]
    private let guardedTables: Set<String>
    private let guardedResources: Set<ObjectIdentifier>
    /// The columns that access conditions test, in lower case, by table.
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

    /// The table's name as in `Footprint`.
    private static func name(of table: TableName) -> String { table.name.lowercased() }

    func hasGuards(_ table: TableName) -> Bool {
        !guardedTables.isEmpty && guardedTables.contains(Self.name(of: table))
    }

    func hasGuards(_ resource: Resource) -> Bool {
        !guardedResources.isEmpty && guardedResources.contains(resource.origin)
    }

    /// Returns the columns of a table that access conditions of any resource test, in lower case.
    func testedColumns(of table: TableName) -> Set<String> {
        testedColumns.isEmpty ? [] : testedColumns[Self.name(of: table)] ?? []
    }

    subscript(table: TableName) -> [TableView] { byTable[Self.name(of: table)] ?? [] }

    /// Returns the views by which other records may contain a row of a section; none for most tables.
    func others(than section: Section) -> [OtherView] { bySection[section.origin] ?? [] }
}

extension Section {
    /// True if some rows or some transitions are guarded.
    fileprivate var hasGuards: Bool { frozenWhen != nil || groups.contains { $0.transitions != nil } }
}
