package import MergeCore
package import RecordStore

/// Columns of the rows that a section's columns refer to: read-only fields, and columns that access conditions test.
extension SectionBinder {
    mutating func lookups() -> [Field] {
        rules.lookups.compactMap { rule in
            guard let found = referred(rule) else { return nil }
            return Field(name: rule.name.value, column: position(of: found.column), isPrivate: found.isPrivate)
        }
    }

    /// Adds a column of a referred row that an access condition tests.
    mutating func addReferred(_ rule: RuleLookup) {
        guard let found = referred(rule) else { return }
        if found.isPrivate {
            return findings.error(
                rule.column.place,
                "column “\(rule.column.value)” is private, and the feed would store the values that conditions test; test "
                    + "another column")
        }
        _ = position(of: found.column)
    }

    /// Returns the column that a lookup reads, and whether the rules of its table make it private.
    private mutating func referred(_ rule: RuleLookup) -> (column: Column, isPrivate: Bool)? {
        guard let own = add(rule.along.value, rule.along.place) else { return nil }
        if references.schema.isGuessed {
            let name = rule.along.value + "." + rule.column.value
            return (Column(name: name, type: .text(TextType()), isNullable: true), false)
        }
        guard let (target, key) = target(of: rule) else { return nil }
        guard let shown = target.column(rule.column.value) else {
            findings.error(
                rule.column.place,
                "table “\(target.name)” has no column “\(rule.column.value)”"
                    + nearest(rule.column.value, target.columns.map(\.name)))
            return nil
        }
        guard let type = type(of: shown, in: target) else {
            findings.error(
                rule.column.place,
                "column “\(shown.name)” of table “\(target.name)” has the type \(shown.declaredType), which \(rule.use.text) cannot read"
            )
            return nil
        }
        guard let step = step(along: columns[own], rule, to: target, key: key, of: shown.column(as: type)) else {
            return nil
        }
        return (.lookup(step), isPrivate(shown.name, in: target))
    }

    /// Other rules must not find the column by its name, so it is not in `positions`.
    private mutating func position(of column: Column) -> Int {
        if let known = columns.firstIndex(of: column) { return known }
        columns.append(column)
        return columns.count - 1
    }

    /// Returns the step if its two columns can be compared exactly and the step reaches at most one row.
    private mutating func step(
        along own: Column, _ rule: RuleLookup, to target: TableSchema, key: String, of shown: Column
    ) -> ReferenceStep? {
        guard let schema = target.column(key), let type = schema.keyType,
            let from = LinkCheck.End(own.name, of: table, type: own.type),
            let to = LinkCheck.End(key, of: target, type: type)
        else { return nil }
        let check = LinkCheck(own: from, target: to)
        if let fault = check.fault {
            findings.error(rule.along.place, fault)
            return nil
        }
        if from.column.collation != to.column.collation {
            findings.error(
                rule.along.place,
                "column “\(own.name)” and column “\(key)” of table “\(target.name)” have different collations, so "
                    + "\(rule.use.text) cannot use the index")
            return nil
        }
        guard target.isKey([key]) || target.uniqueIndexes.contains(where: { $0.columns == [key] }) else {
            findings.error(
                rule.along.place,
                "no unique index of table “\(target.name)” has only the column “\(key)”, so \(rule.use.text) may find several rows"
            )
            return nil
        }
        collations.note(check.inexactTexts, rule.along.place)
        return ReferenceStep(along: own, to: target.name, key: schema.column(as: type), column: shown)
    }

    /// Returns the table and the column that a lookup's column refers to.
    private mutating func target(of rule: RuleLookup) -> (table: TableSchema, key: String)? {
        let fields = rules.groups.flatMap(\.fields) + rules.readOnly
        if let named = fields.first(where: { $0.column.value == rule.along.value })?.references {
            // The field itself reports a resource that does not exist.
            guard let root = references.files.first(where: { $0.resource.value == named.value })?.sections.first,
                let table = root.tableName.flatMap({ references.schema.tables[$0] })
            else { return nil }
            let key = root.key.isEmpty ? table.primaryKey : root.key.map(\.value)
            if let only = key.first, key.count == 1 { return (table, only) }
            findings.error(
                rule.along.place,
                "the key of resource “\(named.value)” has \(key.count) columns; \(rule.use.text) follows a reference of one column"
            )
            return nil
        }
        let keys = table.foreignKeys.filter { $0.columns.contains(rule.along.value) }
        guard let key = keys.first(where: { $0.columns.count == 1 }), let column = key.targetColumns.first else {
            findings.error(
                rule.along.place,
                keys.isEmpty
                    ? "column “\(rule.along.value)” of table “\(table.name)” has no foreign key; give its field “references”"
                    : "the foreign key of column “\(rule.along.value)” of table “\(table.name)” has several columns; "
                        + "\(rule.use.text) follows a reference of one column")
            return nil
        }
        guard let target = references.schema.tables[key.target] else {
            findings.error(
                rule.along.place,
                "table “\(key.target)”, to which column “\(rule.along.value)” refers, cannot be read")
            return nil
        }
        return (target, column)
    }

    /// Returns the type that the rules of the referred table give to a column, or else the column's own.
    private func type(of column: ColumnSchema, in table: TableSchema) -> ColumnType? {
        fields(of: column.name, in: table).compactMap { column.type(givenBy: $0) }.first ?? column.types.first
    }

    private func isPrivate(_ column: String, in table: TableSchema) -> Bool {
        fields(of: column, in: table).contains(where: \.isPrivate)
    }

    /// Returns the fields of all rule files that name a column of a table.
    private func fields(of column: String, in table: TableSchema) -> [RuleField] {
        references.files.flatMap(\.sections).filter { $0.tableName == table.name }
            .flatMap { $0.groups.flatMap(\.fields) + $0.readOnly }.filter { $0.column.value == column }
    }
}

extension RuleFolder {
    /// Returns the tables to which lookups and conditions refer by foreign keys and that the schema does not describe yet.
    package func referredTables(missingIn schema: DatabaseSchema) -> [TableName] {
        let sections = files.flatMap(\.sections)
        let shown: [TableName] = sections.flatMap { section in
            let table = section.tableName.flatMap { schema.tables[$0] }
            return (table?.foreignKeys ?? []).filter { key in
                section.lookups.contains { key.columns == [$0.along.value] }
            }.map(\.target)
        }
        let tested = files.flatMap { targets(ofConditionsIn: $0, schema) }
        return Set(shown + tested).filter { schema.tables[$0] == nil }.sorted { $0.description < $1.description }
    }

    /// Returns the tables that access conditions reach by foreign keys.
    private func targets(ofConditionsIn file: RuleFile, _ schema: DatabaseSchema) -> [TableName] {
        guard let table = file.sections.first?.tableName.flatMap({ schema.tables[$0] }) else { return [] }
        let steps = (file.access?.tested ?? []).compactMap { ReferredColumn($0, from: table) }
        return table.foreignKeys.filter { key in steps.contains { [$0.along] == key.columns } }.map(\.target)
    }
}
