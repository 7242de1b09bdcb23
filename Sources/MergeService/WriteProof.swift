import MergeCore
import RecordStore

/// Compares what was read again after the writes with what was meant.
///
/// Even in strict mode a server may round a number or cut a time with no more than a note; and a column may have been
/// altered since the schema was read. Where nothing in the database may rewrite values, a difference is an error.
struct WriteProof {
    /// A value that was sent to one column of one row.
    struct Meant: Sendable {
        let section: Int
        /// The key of an item of a list; nil for the root and singletons.
        let item: RecordKey?
        let assignment: Assignment
    }

    private let schema: DatabaseSchema

    init(_ schema: DatabaseSchema) {
        self.schema = schema
    }

    /// Whether every change to these resources' tables comes from the push alone: no triggers, as far as the database
    /// user may see them, and no views, behind which anything may stand.
    func applies(to resources: some Sequence<Resource>, dialect: Dialect) -> Bool {
        var seen: Set<ObjectIdentifier> = []
        return resources.filter { seen.insert(ObjectIdentifier($0)).inserted }.flatMap(\.sections).allSatisfy {
            section in
            guard let table = schema.tables[section.table], !table.isView, table.triggers.isEmpty else { return false }
            return dialect == .sqlite || table.rights?.contains("TRIGGER") == true
        }
    }

    /// - Throws: `StoreError` of the kind `schemaChanged`, which has the schema read again; nothing is committed.
    func check(_ meant: [Meant], _ record: Record?, _ resource: Resource) throws(StoreError) {
        guard let record else { return }
        if meant.count == 1, let value = meant.first {
            if let row = row(value, record, resource) { try check(value, row, resource) }
            return
        }
        var last: [Place: (Meant, [Value])] = [:]
        for value in meant {
            guard let row = row(value, record, resource) else { continue }
            // Of two writes to one column the later one counts.
            last[Place(section: value.section, item: value.item, column: value.assignment.column)] = (value, row)
        }
        for (value, row) in last.values { try check(value, row, resource) }
    }

    private func check(_ value: Meant, _ row: [Value], _ resource: Resource) throws(StoreError) {
        guard row[value.assignment.column] != value.assignment.value else { return }
        let section = resource.sections[value.section]
        throw StoreError(
            .schemaChanged,
            "column “\(section.columns[value.assignment.column].name)” of table “\(section.table)” holds another value "
                + "than was written, and no trigger explains it")
    }

    /// A column of a row of a record.
    private struct Place: Hashable {
        let section: Int
        let item: RecordKey?
        let column: Int
    }

    private func row(_ value: Meant, _ record: Record, _ resource: Resource) -> [Value]? {
        switch record.sections[value.section] {
        case .one(let row): row
        case .many(let rows): rows.first { resource.sections[value.section].key(of: $0) == value.item }
        }
    }
}
