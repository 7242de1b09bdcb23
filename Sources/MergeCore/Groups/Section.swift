/// A column of a section's table.
///
/// An object, as fields and groups are: every value that is read or written asks for it, and it never changes.
package final class Column: Sendable, Hashable {
    package let name: String
    package let type: ColumnType
    package let isNullable: Bool
    /// The database lets the column hold values of other types as well (SQLite, or a boolean kept in an integer).
    package let isLoose: Bool
    /// The form of its values on the wire.
    package let style: ValueStyle

    package init(name: String, type: ColumnType, isNullable: Bool, isLoose: Bool = false) {
        self.name = name
        self.type = type
        self.isNullable = isNullable
        self.isLoose = isLoose
        style = ValueStyle(type)
    }

    package static func == (a: Column, b: Column) -> Bool {
        a === b || (a.name, a.type, a.isNullable, a.isLoose) == (b.name, b.type, b.isNullable, b.isLoose)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// The features of a column's type that the text of a value depends on.
package struct ValueStyle: Sendable, Hashable {
    /// Digits behind the point of a decimal.
    package let scale: Int
    /// Digits behind the point of a second.
    package let fractionDigits: Int
    /// A moment in UTC, whose text ends with `Z`.
    package let isUTC: Bool

    package init(_ type: ColumnType) {
        switch type {
        case .decimal(_, let scale, _): self.scale = scale
        case .numeric(_, let scale): self.scale = scale ?? 0
        default: scale = 0
        }
        switch type {
        case .dateTime(let digits), .time(let digits), .timestamp(let digits, _): fractionDigits = digits
        default: fractionDigits = 0
        }
        isUTC = if case .timestamp = type { true } else { false }
    }
}

extension Column {
    /// Returns what a JSON column means by a text.
    ///
    /// The wire has one null. Where the column can be NULL, JSON's own null reads as that; what is no JSON at all stays
    /// text.
    package func json(_ source: String) -> Value {
        guard let tree = JSONParser.parse(source) else { return .text(ExactText(source)) }
        return tree == .null && isNullable ? .null : .json(tree)
    }
}

/// A client-facing name for one column.
package final class Field: Sendable, Hashable {
    package let name: String
    /// The name as JSON writes it, with the colon behind.
    package let quotedName: [UInt8]
    /// The position of its column in the section's `columns`.
    package let column: Int
    /// The section whose key this field holds, where it is a reference: temporary ids in it are replaced.
    package let reference: SectionReference?
    /// The journal keeps a keyed digest of its values, never the values.
    package let isPrivate: Bool

    package init(name: String, column: Int, reference: SectionReference? = nil, isPrivate: Bool = false) {
        self.name = name
        self.column = column
        self.reference = reference
        self.isPrivate = isPrivate
        var quoted: [UInt8] = []
        JSONQuoting.append(name, to: &quoted)
        quotedName = quoted + [UInt8(ascii: ":")]
    }

    package static func == (a: Field, b: Field) -> Bool {
        a === b
            || (a.name, a.column, a.reference, a.isPrivate) == (b.name, b.column, b.reference, b.isPrivate)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// Names a section of a resource, the target of a reference.
package struct SectionReference: Sendable, Hashable {
    package let resource: String
    package let section: String

    package init(resource: String, section: String) {
        self.resource = resource
        self.section = section
    }
}

/// Fields that mean something only together: the atom of merging.
package final class Group: Sendable, Hashable {
    package let name: String
    /// Positions in the section's `fields`; at least one, and side by side.
    package let fields: Range<Int>
    /// The same one by one.
    package let positions: [Int]
    package let onConflict: Ruled<ConflictPolicy>
    /// The function that looks into the values first, where all three differ.
    package let merge: Ruled<MergeFunction>?

    package init(
        name: String, fields: Range<Int>, onConflict: Ruled<ConflictPolicy>, merge: Ruled<MergeFunction>? = nil
    ) {
        self.name = name
        self.fields = fields
        self.onConflict = onConflict
        self.merge = merge
        positions = Array(fields)
    }

    package static func == (a: Group, b: Group) -> Bool {
        a === b || (a.name, a.fields, a.onConflict, a.merge) == (b.name, b.fields, b.onConflict, b.merge)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// On the wire a group of one field carries a bare value, a group of several an object.
    package var isBare: Bool { fields.count == 1 }
}

/// Ties a row of a section to its record: this column holds what the root's column holds.
package struct ParentLink: Sendable, Hashable {
    /// Position in this section's `columns`.
    package let column: Int
    /// Position in the root section's `columns`.
    package let rootColumn: Int

    package init(column: Int, rootColumn: Int) {
        self.column = column
        self.rootColumn = rootColumn
    }
}

/// The number of rows that a section has in a record.
package enum SectionKind: String, Sendable, Hashable {
    case root
    case singleton
    case list
}

/// A named part of a record: one table, its key, and its groups.
///
/// A row of a section is an array of values that runs parallel to `columns`; the key's columns come first.
///
/// It is an object that never changes, because it goes with every row: a copy of its parts for each would cost more than
/// deciding the row.
package final class Section: Sendable {
    package let name: String
    package let kind: SectionKind
    package let table: TableName
    package let columns: [Column]
    /// The number of first columns that are the key; 0 only in a singleton that is found by its parent alone.
    package let keyCount: Int
    /// The position of the key column that the database numbers by itself.
    package let generatedKeyColumn: Int?
    package let fields: [Field]
    package let groups: [Group]
    package let readOnly: [Field]
    /// All fields in the order in which a record shows them.
    package let shown: [Field]
    package let hasPrivateFields: Bool
    package let parent: [ParentLink]
    /// Columns that order the rows of a list.
    package let order: [Int]
    package let onMissing: Ruled<MissingPolicy>
    package let onDeleteConflict: Ruled<DeleteConflictPolicy>
    /// Columns, as positions in `columns`, by which a created row is recognised as one that is there already.
    package let identity: Ruled<[Int]>?
    /// The operator's SQL that tells the rows which exist for clients; nil where all do.
    package let visibility: Ruled<String>?
    /// The assignments that deleting a row writes instead; nil where it deletes.
    package let softDelete: Ruled<[SQLAssignment]>?
    package let checks: [RowCheck]
    /// The table's engine takes a transaction back by itself.
    package let isTransactional: Bool
    /// Clients may choose keys that the database numbers.
    package let allowsClientKeys: Bool
    private let groupTypes: [[ColumnType]]
    private let groupsByName: NameIndex
    private let fieldsByName: NameIndex
    private let readOnlyByName: NameIndex

    package init(
        name: String, kind: SectionKind, table: TableName, columns: [Column], keyCount: Int, generatedKeyColumn: Int?,
        fields: [Field], groups: [Group], readOnly: [Field], parent: [ParentLink], order: [Int],
        onMissing: Ruled<MissingPolicy>, onDeleteConflict: Ruled<DeleteConflictPolicy>,
        identity: Ruled<[Int]>? = nil, visibility: Ruled<String>? = nil, softDelete: Ruled<[SQLAssignment]>? = nil,
        checks: [RowCheck] = [], isTransactional: Bool = true, allowsClientKeys: Bool = false
    ) {
        self.name = name
        self.kind = kind
        self.table = table
        self.columns = columns
        self.keyCount = keyCount
        self.generatedKeyColumn = generatedKeyColumn
        self.fields = fields
        self.groups = groups
        self.readOnly = readOnly
        shown = fields + readOnly
        hasPrivateFields = fields.contains(where: \.isPrivate)
        groupTypes = groups.map { group in group.fields.map { columns[fields[$0].column].type } }
        self.parent = parent
        self.order = order
        self.onMissing = onMissing
        self.onDeleteConflict = onDeleteConflict
        self.identity = identity
        self.visibility = visibility
        self.softDelete = softDelete
        self.checks = checks
        self.isTransactional = isTransactional
        self.allowsClientKeys = allowsClientKeys
        groupsByName = NameIndex(groups.map(\.name))
        fieldsByName = NameIndex(fields.map(\.name))
        readOnlyByName = NameIndex(readOnly.map(\.name))
    }

    /// Returns the position of the group of this name; nil where there is none.
    package func group(named name: String) -> Int? { groupsByName[name] }

    /// Returns the position of the field of this name; nil where no group has it.
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
            && a.isTransactional == b.isTransactional && a.allowsClientKeys == b.allowsClientKeys
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(table)
    }
}
