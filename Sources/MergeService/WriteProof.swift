import MergeCore
import RecordStore

/// Compares what was read again after the writes with what was meant.
///
/// Even in strict mode a server may round a number or cut a time with no more than a note; and a column may have been
/// altered since the schema was read. Where nothing in the database may rewrite values, a difference is an error.
struct WriteProof {
    /// What was sent to the columns of one row.
    struct Meant: Sendable {
        let section: Int
        /// The key of an item of a list; nil for the root and singletons.
        let item: RecordKey?
        let assignments: [Assignment]

        func isSameRow(as other: Meant) -> Bool { section == other.section && item == other.item }

        /// Returns the write of some of its columns alone.
        func keeping(_ isKept: (_ column: Int) -> Bool) -> Meant {
            Meant(section: section, item: item, assignments: assignments.filter { isKept($0.column) })
        }
    }

    private let schema: DatabaseSchema

    init(_ schema: DatabaseSchema) {
        self.schema = schema
    }

    /// Whether every change to these resources' tables comes from the push alone: no triggers, as far as the database
    /// user may see them, and no views, behind which anything may stand.
    func applies(to resources: [Resource], dialect: Dialect) -> Bool {
        resources.flatMap(\.sections).allSatisfy {
            section in
            guard let table = schema.tables[section.table], !table.isView, table.triggers.isEmpty else { return false }
            return dialect == .sqlite || table.rights?.contains("TRIGGER") == true
        }
    }

    /// - Throws: `StoreError` of the kind `schemaChanged`, which has the schema read again; nothing is committed.
    func check(_ meant: [Meant], _ record: Record?, _ resource: Resource) throws(StoreError) {
        guard let record else { return }
        for (index, write) in meant.enumerated() {
            guard let row = row(write, record, resource) else { continue }
            // Of two writes to one column the later one counts.
            let later = meant[(index + 1)...].filter { $0.isSameRow(as: write) }
            for assignment in write.assignments where row[assignment.column] != assignment.value {
                if later.contains(where: { $0.assignments.contains { $0.column == assignment.column } }) { continue }
                let section = resource.sections[write.section]
                throw StoreError(
                    .schemaChanged,
                    "column “\(section.columns[assignment.column].name)” of table “\(section.table)” holds another "
                        + "value than was written, and no trigger explains it")
            }
        }
    }

    private func row(_ write: Meant, _ record: Record, _ resource: Resource) -> [Value]? {
        switch record.sections[write.section] {
        case .one(let row): row
        case .many(let rows): rows.first { resource.sections[write.section].key(of: $0) == write.item }
        }
    }
}
