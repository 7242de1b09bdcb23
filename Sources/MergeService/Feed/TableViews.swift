package import MergeCore
package import RecordStore

/// A section as a view of its table: finds the records that contain a row.
package final class TableView: Sendable {
    let resource: Resource
    let section: Section
    /// The step from rows of the section to rows of the table, or nil if the table is the section's own.
    let step: ReferenceStep?
    /// True if access conditions of the records test a column along the step.
    let decidesAccess: Bool

    /// Creates the view of a section from its table, or from a table to which its rows refer.
    package init(resource: Resource, section: Section, along step: ReferenceStep? = nil) {
        self.resource = resource
        self.section = section
        self.step = step
        decidesAccess =
            section.kind == .root && (step.map { resource.access?.steps.contains($0) == true } ?? false)
    }

    /// The columns that identify the records of a row: a root row's key, the link to the record, or the column to which
    /// rows of the section refer.
    package var columns: [Column] {
        if let step { return [step.key] }
        return section.kind == .root
            ? Array(section.columns.prefix(section.keyCount)) : section.parent.map { section.columns[$0.column] }
    }

    /// The steps to the rows whose columns the section's rows show.
    var lookups: [ReferenceStep] { step == nil ? section.columns.compactMap(\.lookup) : [] }

    /// True if these columns contain the record's key.
    package var namesRecord: Bool {
        if step != nil { return false }
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
    /// They are nil if a column is missing or has another type, or if the columns do not contain the record's key.
    let positions: [Int]?
    /// The positions of the view's columns; nil if one is missing.
    private let addressed: Set<Int>?
    /// The positions of the columns that records read along the view's step, and of the column to which they refer.
    private let shown: Set<Int>
    private let referred: Set<Int>
    /// The positions of the columns that refer to rows whose columns the view's records show.
    private let referring: Set<Int>

    init(_ view: TableView, from section: Section) {
        self.view = view
        func places(_ column: Column?) -> Set<Int> {
            Set(section.columns.indices.filter { section.columns[$0].name.lowercased() == column?.name.lowercased() })
        }
        shown = places(view.step?.column)
        referred = places(view.step?.key)
        referring = view.lookups.reduce(into: []) { $0.formUnion(places($1.own)) }
        let columns = view.columns
        let found = columns.compactMap { wanted in
            section.columns.firstIndex { $0.name.lowercased() == wanted.name.lowercased() }
        }
        let isWhole = found.count == columns.count && view.namesRecord
        addressed = isWhole ? Set(found) : nil
        let hasTypes = zip(found, columns).allSatisfy { section.columns[$0].type == $1.type }
        positions = isWhole && hasTypes ? found : nil
    }

    /// Returns true if a write may change what the view's records show.
    ///
    /// - Parameter assignments: the columns that are written; nil for a deletion.
    func concerns(_ assignments: [Assignment]?) -> Bool {
        guard view.step != nil, let assignments, !assignments.isEmpty else { return true }
        return assignments.contains { shown.contains($0.column) || referred.contains($0.column) }
    }

    /// Returns true if a write to some columns may let the view's records show another referred row.
    func refersElsewhere(after assignments: [Assignment]) -> Bool {
        assignments.contains { referring.contains($0.column) }
    }

    /// Returns true if a write to some columns may move the row to another record.
    func isMoved(by assignments: [Assignment]) -> Bool {
        if view.step != nil { return assignments.contains { referred.contains($0.column) } }
        return addressed.map { addressed in assignments.contains { addressed.contains($0.column) } } ?? true
    }
}

/// A reference of a table's rows along which access conditions test a column.
private struct ConditionReference: Sendable, Equatable {
    let table: TableName
    let step: ReferenceStep
}

/// The sections of all resources that contain rows of a table.
struct TableViews: Sendable {
    private let byTable: [TableName: [TableView]]
    /// The sections whose rows show columns of a table's rows, by table.
    private let referring: [TableName: [TableView]]
    private let bySection: [ObjectIdentifier: [OtherView]]
    private let guardedTables: Set<TableName>
    private let guardedResources: Set<ObjectIdentifier>
    /// The columns that access conditions test, and the references to rows whose columns they test, in lower case, by
    /// table.
    private let testedColumns: [TableName: Set<String>]
    /// The references along which access conditions test columns.
    private let conditionSteps: [ConditionReference]
    private let sectionsWithSteps: Set<ObjectIdentifier>

    init(_ catalog: Catalog) {
        var found: [TableName: [TableView]] = [:]
        var referring: [TableName: [TableView]] = [:]
        for resource in catalog.resources {
            for section in resource.sections {
                found[section.table, default: []].append(
                    TableView(resource: resource, section: section))
                for step in section.columns.compactMap(\.lookup) {
                    referring[step.table, default: []].append(
                        TableView(resource: resource, section: section, along: step))
                }
            }
        }
        byTable = found
        self.referring = referring
        let guarded = catalog.resources.filter { $0.sections.contains(where: \.hasGuards) }
        guardedResources = Set(guarded.map(\.origin))
        guardedTables = Set(guarded.flatMap(\.sections).filter(\.hasGuards).map { $0.table })
        var tested: [TableName: Set<String>] = [:]
        for resource in catalog.resources {
            let columns = (resource.access?.columns ?? []).map { resource.root.columns[$0] }
            let names = columns.map { ($0.lookup?.own ?? $0).name.lowercased() }
            if !names.isEmpty { tested[resource.root.table, default: []].formUnion(names) }
        }
        testedColumns = tested
        var steps: [ConditionReference] = []
        for resource in catalog.resources {
            for step in resource.access?.steps ?? [] {
                let reference = ConditionReference(table: resource.root.table, step: step)
                if !steps.contains(reference) { steps.append(reference) }
            }
        }
        conditionSteps = steps
        sectionsWithSteps = Set(
            catalog.resources.filter { $0.access?.steps.isEmpty == false }.map { $0.root.origin })
        var others: [ObjectIdentifier: [OtherView]] = [:]
        for section in catalog.resources.flatMap(\.sections) {
            let views = (found[section.table] ?? []).filter { $0.section !== section || !$0.namesRecord }
            let steps = referring[section.table] ?? []
            if !(views + steps).isEmpty {
                others[section.origin] = (views + steps).map { OtherView($0, from: section) }
            }
        }
        bySection = others
    }

    func hasGuards(_ table: TableName) -> Bool {
        !guardedTables.isEmpty && guardedTables.contains(table)
    }

    func hasGuards(_ resource: Resource) -> Bool {
        !guardedResources.isEmpty && guardedResources.contains(resource.origin)
    }

    /// Returns the columns of a table that access conditions of any resource test, in lower case.
    func testedColumns(of table: TableName) -> Set<String> {
        testedColumns.isEmpty ? [] : testedColumns[table] ?? []
    }

    /// True if some access conditions test columns of referred rows.
    var hasConditionSteps: Bool { !conditionSteps.isEmpty }

    /// Returns the references of a table's rows along which access conditions test columns.
    func conditionSteps(from table: TableName) -> [ReferenceStep] {
        conditionSteps.filter { $0.table == table }.map(\.step)
    }

    /// Returns the references to a table's rows along which access conditions test columns.
    func conditionSteps(to table: TableName) -> [ReferenceStep] {
        conditionSteps.filter { $0.step.table == table }.map(\.step)
    }

    /// Returns true if columns of referred rows decide which rows of a section a client may read.
    func decidesByReferredRows(_ section: Section) -> Bool {
        !sectionsWithSteps.isEmpty && sectionsWithSteps.contains(section.origin)
    }

    subscript(table: TableName) -> [TableView] { byTable[table] ?? [] }

    /// Returns the views by which records contain rows of a table, or show columns of them.
    func all(_ table: TableName) -> [TableView] {
        self[table] + (referring[table] ?? [])
    }

    /// Returns the views by which other records may contain a row of a section; none for most tables.
    func others(than section: Section) -> [OtherView] { bySection[section.origin] ?? [] }
}

extension Section {
    /// True if some rows or some transitions are guarded.
    fileprivate var hasGuards: Bool { frozenWhen != nil || groups.contains { $0.transitions != nil } }
}
