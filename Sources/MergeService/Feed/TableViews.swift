import MergeCore
import RecordStore

/// A section that shows the rows of a table, seen from the table: which records show a row?
final class TableView: Sendable {
    let resource: Resource
    let section: Section

    init(resource: Resource, section: Section) {
        self.resource = resource
        self.section = section
    }

    /// The columns that tell which record shows a row: the key of a root row, else what ties a row to its record.
    var columns: [Column] {
        section.kind == .root
            ? Array(section.columns.prefix(section.keyCount)) : section.parent.map { section.columns[$0.column] }
    }

    /// The values of those columns are the record's key.
    var namesRecord: Bool {
        if section.kind == .root { return section.keyCount > 0 }
        return !section.isLinkedByText && section.parent.count == resource.root.keyCount
            && Set(section.parent.map(\.rootColumn)) == Set(0..<resource.root.keyCount)
    }

    /// Returns the key of the record that shows a row, where its columns name it.
    func key(_ values: [Value]) -> RecordKey? {
        guard namesRecord, !values.contains(.null) else { return nil }
        if section.kind == .root { return RecordKey(values) }
        var parts = values
        for (link, value) in zip(section.parent, values) { parts[link.rootColumn] = value }
        return RecordKey(parts)
    }
}

/// The sections of all resources that show rows of a table besides the record that an edit names.
struct TableViews: Sendable {
    private let byTable: [String: [TableView]]

    init(_ catalog: Catalog) {
        var found: [String: [TableView]] = [:]
        for resource in catalog.resources {
            for section in resource.sections {
                found[Self.name(of: section.table), default: []].append(
                    TableView(resource: resource, section: section))
            }
        }
        byTable = found
    }

    /// The name by which `Footprint` tells tables apart.
    private static func name(of table: TableName) -> String { table.name.lowercased() }

    subscript(table: TableName) -> [TableView] { byTable[Self.name(of: table)] ?? [] }

    /// Returns the views of a section's table, where a change of one of its rows can be a change of another record than
    /// the one through which it is written; none for most tables.
    func others(than section: Section) -> [TableView] {
        let views = self[section.table]
        return views.count > 1 || views.contains { !$0.namesRecord } ? views : []
    }
}
