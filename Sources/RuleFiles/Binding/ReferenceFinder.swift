import MergeCore
import RecordStore

/// Finds which section's key a field holds: named in the rules, or told by a foreign key of the schema.
struct ReferenceFinder {
    let files: [RuleFile]
    let schema: DatabaseSchema

    func reference(of field: RuleField, in table: TableSchema, _ findings: inout Findings) -> SectionReference? {
        if let named = field.references {
            guard let file = files.first(where: { $0.resource.value == named.value }), let root = file.sections.first
            else {
                findings.error(
                    named.place,
                    "no rule file has the resource “\(named.value)”"
                        + nearest(named.value, files.map(\.resource.value)))
                return nil
            }
            return SectionReference(resource: file.resource.value, section: root.name.value)
        }
        guard
            let key = table.foreignKeys.first(where: { $0.columns == [field.column.value] }),
            let column = key.targetColumns.first
        else { return nil }
        return section(of: key.target, keyedBy: column)
    }

    /// Roots before other sections, so that a table with several roles means the record it is named for.
    private func section(of table: TableName, keyedBy column: String) -> SectionReference? {
        var part: SectionReference?
        for file in files {
            for (index, section) in file.sections.enumerated() where section.tableName == table {
                let key = section.key.isEmpty ? schema.tables[table]?.primaryKey ?? [] : section.key.map(\.value)
                guard key == [column] else { continue }
                let reference = SectionReference(resource: file.resource.value, section: section.name.value)
                if index == 0 { return reference }
                part = part ?? reference
            }
        }
        return part
    }
}
