import MergeCore
import RecordStore

/// Finds the section that a field refers to, from the rules or from a foreign key.
struct ReferenceFinder {
    let files: [RuleFile]
    let schema: DatabaseSchema

    /// Returns the reference if both columns can be compared exactly.
    func checked(
        _ reference: SectionReference, of field: RuleField, in table: TableSchema, type: ColumnType,
        _ findings: inout Findings, _ collations: inout CollationAdvice
    ) -> SectionReference? {
        guard !schema.isGuessed, let own = LinkCheck.End(field.column.value, of: table, type: type),
            let target = key(of: reference)
        else { return reference }
        let place = (field.references ?? field.column).place
        let check = LinkCheck(own: own, target: target)
        if let fault = check.fault {
            if field.references != nil {
                findings.error(place, fault)
            } else {
                // The operator may be unable to change a foreign key of the database.
                findings.warning(place, fault + "; temporary ids are not replaced in this field")
            }
            return nil
        }
        collations.note(check.inexactTexts, place)
        return reference
    }

    /// Returns the key column of a section, or nil if the key has several columns.
    private func key(of reference: SectionReference) -> LinkCheck.End? {
        guard let file = files.first(where: { $0.resource.value == reference.resource }),
            let section = file.sections.first(where: { $0.name.value == reference.section }),
            let table = section.tableName.flatMap({ schema.tables[$0] })
        else { return nil }
        let key = section.key.isEmpty ? table.primaryKey : section.key.map(\.value)
        guard key.count == 1, let column = table.column(key[0]) else { return nil }
        let named = section.readOnly.first { $0.column.value == key[0] }?.type?.value
        let type = named.flatMap { name in (column.types + column.explicitTypes).first { $0.name == name } }
        return LinkCheck.End(key[0], of: table, type: type.map { column.keyType(for: $0) } ?? column.keyType)
    }

    /// Returns the section whose key a field refers to, or nil if the field is no reference.
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

    /// Returns a section of the table, preferably a root, so that a table with several roles denotes its own resource.
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
