/// A named part of a record: one table, its key, and its groups.
///
/// A row of a section is an array of values that runs parallel to `columns`; the key's columns come first.
///
/// It is an object that never changes, because it goes with every row: a copy of its parts for each would cost more than
/// deciding the row.
package final class Section: Sendable {
    /// The name that clients use.
    package let name: String
    /// The number of rows that it has in a record.
    package let kind: SectionKind
    /// The table or view that its rows are in.
    package let table: TableName
    /// The columns that are read and written, those of the key first.
    package let columns: [Column]
    /// The number of first columns that are the key; 0 only in a singleton that is found by its parent alone.
    package let keyCount: Int
    /// The position of the key column that the database numbers by itself.
    package let generatedKeyColumn: Int?
    /// The fields that are written, in the order of the groups.
    package let fields: [Field]
    /// The groups, which hold all of `fields`.
    package let groups: [Group]
    /// The fields that clients are shown, and may not write.
    package let readOnly: [Field]
    /// All fields in the order in which a record shows them.
    package let shown: [Field]
    /// The journal keeps no values of at least one field.
    package let hasPrivateFields: Bool
    /// The columns that tie a row to its record; none for the root.
    package let parent: [ParentLink]
    /// Columns that order the rows of a list.
    package let order: [Int]
    /// The policy for an edit to a row that is gone.
    package let onMissing: Ruled<MissingPolicy>
    /// The policy for the deletion of a row that others changed.
    package let onDeleteConflict: Ruled<DeleteConflictPolicy>
    /// Columns, as positions in `columns`, by which a created row is recognised as one that is there already.
    package let identity: Ruled<[Int]>?
    /// The operator's SQL that tells the rows which exist for clients; nil where all do.
    package let visibility: Ruled<String>?
    /// The assignments that deleting a row writes instead; nil where it deletes.
    package let softDelete: Ruled<[SQLAssignment]>?
    /// The conditions that rows have to meet after a merge.
    package let checks: [RowCheck]
    /// The operator's SQL that tells the rows which are written no more; nil where none is.
    package let frozenWhen: Ruled<String>?
    /// The table's engine takes a transaction back by itself.
    package let isTransactional: Bool
    /// Clients may choose keys that the database numbers.
    package let allowsClientKeys: Bool
    /// The names of the columns that a deletion keeps of a row: those that the rules name, and those of `undo-columns`.
    package let keptColumns: [String]
    /// The section of the rules that this one stands for, with other rules for its rows; nil for one of the rules.
    private let original: Section?
    private let groupTypes: [[ColumnType]]
    private let groupsByName: NameIndex
    private let fieldsByName: NameIndex
    private let readOnlyByName: NameIndex

    /// Makes a section of a table, the fields that clients see of it, and the rules for its rows.
    ///
    /// - Parameter original: the section of the rules that it stands for, where it is not one itself.
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
        parent = table.parent
        order = table.order
        isTransactional = table.isTransactional
        fields = content.fields
        groups = content.groups
        readOnly = content.readOnly
        shown = content.fields + content.readOnly
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
        allowsClientKeys = rules.allowsClientKeys
        keptColumns = rules.keptColumns
        groupsByName = NameIndex(groups.map(\.name), formerly: groups.map(\.formerly))
        fieldsByName = NameIndex(fields.map(\.name), formerly: fields.map(\.formerly))
        readOnlyByName = NameIndex(readOnly.map(\.name))
    }

    /// The section of the rules: what is known of that one holds also for one that stands for it.
    package var origin: ObjectIdentifier { ObjectIdentifier(original ?? self) }

    /// Returns the position of the group that has this name, or had it; nil if there is none.
    package func group(named name: String) -> Int? { groupsByName[name] }

    /// Returns the position of the field that has this name, or had it; nil if no group has it.
    package func field(named name: String) -> Int? { fieldsByName[name] }

    /// Returns the position of the read-only field of this name; nil where there is none.
    package func readOnlyField(named name: String) -> Int? { readOnlyByName[name] }

    /// The group that a field belongs to.
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

    /// Returns true where a row has this key.
    package func isKey(_ key: RecordKey, of row: [Value]) -> Bool { key.parts.elementsEqual(row.prefix(keyCount)) }

    /// The types of one group's columns.
    package func types(of group: Int) -> [ColumnType] { groupTypes[group] }

    /// The values of one group in a row.
    package func values(of group: Int, in row: [Value]) -> [Value] {
        groups[group].fields.map { row[fields[$0].column] }
    }

    /// Returns true where a row holds these values of one group.
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
            && a.keyCount == b.keyCount && a.generatedKeyColumn == b.generatedKeyColumn && a.fields == b.fields
            && a.groups == b.groups && a.readOnly == b.readOnly && a.parent == b.parent && a.order == b.order
            && a.onMissing == b.onMissing && a.onDeleteConflict == b.onDeleteConflict && a.identity == b.identity
            && a.visibility == b.visibility && a.softDelete == b.softDelete && a.checks == b.checks
            && a.frozenWhen == b.frozenWhen && a.keptColumns == b.keptColumns
            && a.isTransactional == b.isTransactional && a.allowsClientKeys == b.allowsClientKeys
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(table)
    }
}
