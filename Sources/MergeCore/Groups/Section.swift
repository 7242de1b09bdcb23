/// A named part of a record: one table, its key, and its groups.
///
/// A row of a section is an array of values, parallel to `columns`.
package final class Section: Sendable {
    /// The name that clients use.
    package let name: String
    /// The number of rows in a record.
    package let kind: SectionKind
    /// The table or view of the rows.
    package let table: TableName
    /// The columns that are read and written, beginning with the key.
    package let columns: [Column]
    /// The number of key columns at the front; 0 only in a singleton that its parent identifies.
    package let keyCount: Int
    /// The position of the key column that the database or the gateway numbers.
    package let generatedKeyColumn: Int?
    /// True if the gateway numbers `generatedKeyColumn` within the other key columns.
    package let gatewayNumbersKey: Bool
    /// The fields that clients may write, in the order of the groups.
    package let fields: [Field]
    /// The groups, which contain all of `fields`.
    package let groups: [Group]
    /// The fields that clients can read but not write.
    package let readOnly: [Field]
    /// All fields in the order of a record.
    package let shown: [Field]
    /// True if some columns are read from referred rows.
    package let hasLookups: Bool
    /// True if some field of a group is private.
    package let hasPrivateFields: Bool
    /// The columns that link a row to its record; empty for the root.
    package let parent: [ParentLink]
    /// The positions of the columns by which the section finds its rows: the key, or the link to the record without one.
    package let addressPositions: [Int]
    /// The names of these columns in lower case.
    package let addressNames: [String]
    /// The positions of the columns that order a list.
    package let order: [Int]
    /// The policy for an edit of a row that is gone.
    package let onMissing: Ruled<MissingPolicy>
    /// The policy for the deletion of a row that has changed since.
    package let onDeleteConflict: Ruled<DeleteConflictPolicy>
    /// Positions in `columns` by which a created row matches an existing row.
    package let identity: Ruled<[Int]>?
    /// The operator's SQL for the rows that clients can see, or nil for all rows.
    package let visibility: Ruled<String>?
    /// The assignments that replace a deletion, or nil for a real deletion.
    package let softDelete: Ruled<[SQLAssignment]>?
    /// The conditions on rows after a merge.
    package let checks: [RowCheck]
    /// The operator's SQL for frozen rows, or nil if no row is frozen.
    package let frozenWhen: Ruled<String>?
    /// The columns that every insertion and update sets.
    package let stamps: [Stamp]
    /// True if the table's engine has transactions.
    package let isTransactional: Bool
    /// True if clients may choose keys that the database numbers.
    package let allowsClientKeys: Bool
    /// The names of the columns that a deletion keeps: those of the rules, and those of `undo-columns`.
    package let keptColumns: [String]
    /// The section of the rule files that this section replaces, if any.
    private let original: Section?
    private let groupTypes: [[ColumnType]]
    private let groupsByName: NameIndex
    private let fieldsByName: NameIndex
    private let readOnlyByName: NameIndex

    /// Creates a section, which may replace an original section of the rule files.
    package init(
        name: String, kind: SectionKind, table: SectionTable, fields content: SectionFields = SectionFields(),
        rules: SectionRules = SectionRules(), standingFor original: Section? = nil
    ) {
        self.original = original
        self.name = name
        self.kind = kind
        self.table = table.name
        columns = table.columns
        keyCount = table.keyCount
        generatedKeyColumn = table.generatedKeyColumn
        gatewayNumbersKey = table.gatewayNumbersKey
        parent = table.parent
        addressPositions = keyCount > 0 ? Array(0..<keyCount) : parent.map(\.column)
        addressNames = addressPositions.map { table.columns[$0].name.lowercased() }
        order = table.order
        isTransactional = table.isTransactional
        fields = content.fields
        groups = content.groups
        readOnly = content.readOnly
        shown = content.fields + content.readOnly
        hasLookups = table.columns.contains { $0.lookup != nil }
        hasPrivateFields = content.fields.contains(where: \.isPrivate)
        groupTypes = content.groups.map { group in
            group.fields.map { table.columns[content.fields[$0].column].type }
        }
        onMissing = rules.onMissing
        onDeleteConflict = rules.onDeleteConflict
        identity = rules.identity
        visibility = rules.visibility
        softDelete = rules.softDelete
        checks = rules.checks
        frozenWhen = rules.frozenWhen
        stamps = rules.stamps
        allowsClientKeys = rules.allowsClientKeys
        keptColumns = rules.keptColumns
        groupsByName = NameIndex(groups.map(\.name), formerly: groups.map(\.formerly))
        fieldsByName = NameIndex(fields.map(\.name), formerly: fields.map(\.formerly))
        readOnlyByName = NameIndex(readOnly.map(\.name))
    }

    /// The identity of the section of the rule files, so that its cached facts apply here too.
    package var origin: ObjectIdentifier { ObjectIdentifier(original ?? self) }

    /// Returns the position of the group with this current or earlier name, if any.
    package func group(named name: String) -> Int? { groupsByName[name] }

    /// Returns the position of the field with this current or earlier name, if any.
    package func field(named name: String) -> Int? { fieldsByName[name] }

    /// Returns the position of the read-only field with this name, if any.
    package func readOnlyField(named name: String) -> Int? { readOnlyByName[name] }

    /// Returns the position of the field's group, if any.
    package func group(ofField field: Int) -> Int? { groups.firstIndex { $0.fields.contains(field) } }

    /// Returns the type of a field's column.
    package func type(ofField field: Int) -> ColumnType { columns[fields[field].column].type }

    /// Returns the form of a field's values on the wire.
    package func style(ofField field: Int) -> ValueStyle { columns[fields[field].column].style }

    /// Returns the key of a row.
    package func key(of row: [Value]) -> RecordKey {
        if keyCount == 1, let only = row.first { return RecordKey([only]) }
        return RecordKey(Array(row.prefix(keyCount)))
    }

    /// Returns true if the row has this key.
    package func isKey(_ key: RecordKey, of row: [Value]) -> Bool { key.parts.elementsEqual(row.prefix(keyCount)) }

    /// Returns the types of a group's columns.
    package func types(of group: Int) -> [ColumnType] { groupTypes[group] }

    /// Returns the values of a group in a row.
    package func values(of group: Int, in row: [Value]) -> [Value] {
        groups[group].fields.map { row[fields[$0].column] }
    }

    /// Returns true if the row contains these values of a group.
    package func holds(_ values: [Value], of group: Int, in row: [Value]) -> Bool {
        let positions = groups[group].fields
        return positions.count == values.count
            && zip(positions, values).allSatisfy { row[fields[$0].column] == $1 }
    }
}

extension Section: Hashable {
    package static func == (a: Section, b: Section) -> Bool {
        if a === b { return true }
        return a.name == b.name && a.kind == b.kind && a.table == b.table && a.columns == b.columns
            && a.keyCount == b.keyCount && a.generatedKeyColumn == b.generatedKeyColumn
            && a.gatewayNumbersKey == b.gatewayNumbersKey && a.fields == b.fields && a.groups == b.groups
            && a.readOnly == b.readOnly && a.parent == b.parent && a.order == b.order
            && a.onMissing == b.onMissing && a.onDeleteConflict == b.onDeleteConflict && a.identity == b.identity
            && a.visibility == b.visibility && a.softDelete == b.softDelete && a.checks == b.checks
            && a.frozenWhen == b.frozenWhen && a.stamps == b.stamps && a.keptColumns == b.keptColumns
            && a.isTransactional == b.isTransactional && a.allowsClientKeys == b.allowsClientKeys
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(table)
    }
}
