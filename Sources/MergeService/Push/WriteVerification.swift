import MergeCore
import RecordStore

/// Compares rows that were read again after the writes with the expected values.
///
/// Even in strict mode a server may round a number or cut a time with only a warning. A column may also have been
/// altered. If nothing else may rewrite values, a difference refuses the edit.
struct WriteVerification {
    private let schema: DatabaseSchema

    init(_ schema: DatabaseSchema) {
        self.schema = schema
    }

    /// Returns true if only the push can change the tables of these resources.
    ///
    /// That needs tables, not views, and the right to list triggers, of which there are none.
    func applies(to resources: [Resource], dialect: any Dialect) -> Bool {
        resources.flatMap(\.sections).allSatisfy {
            section in
            guard let table = schema.tables[section.table], !table.isView, table.triggers.isEmpty else { return false }
            return dialect.showsWholeSchema || table.rights?.contains("TRIGGER") == true
        }
    }

    struct Difference: Error {
        let edit: Int
        let section: Int
        let item: RecordKey?
        let column: Column
        let table: TableName

        /// The error for a column that was altered since the schema was read.
        var schemaChange: StoreError {
            StoreError(
                .schemaChanged,
                "column “\(column.name)” of table “\(table)” holds another value than was written, and no trigger explains "
                    + "it")
        }
    }

    /// Compares the writes with a record.
    ///
    /// - Parameter expected: the rows in their order, each with the position of its edit.
    /// - Throws: `Difference` for the first column with a different value.
    func check(
        _ expected: [(edit: Int, row: ExpectedRow)], against record: Record?, of resource: Resource
    ) throws(Difference) {
        guard let record else { return }
        var rows = RecordRows(record, resource)
        var last: [WrittenColumn: Int] = [:]
        for (index, (_, row)) in expected.enumerated() {
            for assignment in row.assignments { last[WrittenColumn(row, assignment)] = index }
        }
        for (index, (edit, written)) in expected.enumerated() {
            guard let row = rows.row(written.section, written.item) else { continue }
            for assignment in written.assignments where row[assignment.column] != assignment.value {
                // Of two writes to one column, the later counts.
                if last[WrittenColumn(written, assignment)] != index { continue }
                let section = resource.sections[written.section]
                throw Difference(
                    edit: edit, section: written.section, item: written.item,
                    column: section.columns[assignment.column], table: section.table)
            }
        }
    }

    private struct WrittenColumn: Hashable {
        let section: Int
        let item: RecordKey?
        let column: Int

        init(_ row: ExpectedRow, _ assignment: Assignment) {
            section = row.section
            item = row.item
            column = assignment.column
        }
    }
}

extension WriteVerification.Difference {
    /// Returns the problem for the client, if the schema is unchanged.
    func problem(_ edit: Edit) -> Problem {
        let section = edit.resource.sections[section]
        let row = edit.rows.first { $0.section == self.section && (item == nil || $0.id?.key == item) }
        return Problem(
            .notStoredExactly,
            detail: "The database made another value of one that was written, so nothing of the edit was kept.",
            path: row?.path ?? edit.path, retry: .never,
            fields: section.fields.filter { section.columns[$0.column] === column }.map(\.name))
    }
}
