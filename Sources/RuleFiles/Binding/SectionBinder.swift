import MergeCore
import RecordStore

/// Binds one section to its table.
struct SectionBinder {
    let rules: RuleSection
    let table: TableSchema
    private let isRoot: Bool
    private let allowsNonTransactional: Bool
    let references: ReferenceFinder
    /// Columns that roles set from claims in new rows.
    let supplied: Set<String>
    var findings = Findings()
    /// Text columns that the database does not compare exactly.
    var collations = CollationAdvice()
    var columns: [Column] = []
    var positions: [String: Int] = [:]
    /// Columns by which rows are found.
    private(set) var keyed: Set<String> = []

    init(
        _ rules: RuleSection, _ table: TableSchema, isRoot: Bool, allowsNonTransactional: Bool, schema: DatabaseSchema,
        files: [RuleFile], supplied: Set<String>
    ) {
        self.supplied = supplied
        self.rules = rules
        self.table = table
        self.isRoot = isRoot
        self.allowsNonTransactional = allowsNonTransactional
        references = ReferenceFinder(files: files, schema: schema)
    }

    /// Returns the section, or nil if there is an error.
    mutating func bind(
        extraColumns: [String], access: RuleAccess? = nil, links: [(own: Placed<String>, root: String)],
        root: Section?
    ) -> Section? {
        checkTable()
        let key = keyColumns()
        keyed = Set(
            key + extraColumns + links.map(\.own.value) + rules.lookups.map(\.along.value)
                + (access?.tested ?? []).compactMap { ReferredColumn($0, from: table)?.along })
        for name in key { _ = add(name, rules.name.place) }
        refuseSets(among: key)
        let parents = Set(links.map(\.own.value))
        let content = fields(key: key, parents: parents, linked: extraColumns)
        for name in extraColumns { _ = add(name, rules.name.place) }
        if let access { addConditions(access) }
        let parent = links.compactMap { link -> ParentLink? in
            guard let own = add(link.own.value, link.own.place) else { return nil }
            guard let root, let rootColumn = root.columns.firstIndex(where: { $0.name == link.root }) else {
                return nil
            }
            return ParentLink(column: own, rootColumn: rootColumn)
        }
        let order = rules.order.compactMap { add($0.value, $0.place) }
        var settings = settings(key: key, parents: parents, fields: content.fields)
        settings.keptColumns = keptColumns()
        let numbersKey = numbersKey(key, parents: parents)
        if allowsNonTransactional {
            // To compensate a deletion, a push needs the whole row. These columns are read but not kept.
            for column in table.columns where column.serverOwned == nil { _ = add(column.name, rules.name.place) }
        }
        guard !findings.hasErrors, isRoot || parent.count == links.count else { return nil }
        let section = Section(
            name: rules.name.value, kind: isRoot ? .root : rules.isList ? .list : .singleton,
            table: SectionTable(
                table.name, columns: columns, keyCount: key.count,
                generatedKeyColumn: numbersKey
                    ? key.count - 1 : key.firstIndex { table.column($0)?.isAutoIncrement == true },
                gatewayNumbersKey: numbersKey, parent: parent, order: order, isTransactional: table.isTransactional),
            fields: content, rules: settings)
        SectionAdvice(
            section: section, table: table, place: rules.name.place, schema: references.schema,
            known: Set(references.files.flatMap(\.tables))
        ).add(to: &findings)
        return section
    }

    /// Returns the fields that clients can read, and adds their columns.
    private mutating func fields(key: [String], parents: Set<String>, linked: [String]) -> SectionFields {
        var fields: [Field] = []
        var groups: [Group] = []
        for group in rules.groups {
            let start = fields.count
            for field in group.fields {
                checkWritable(field, key: key, parents: parents, linked: linked)
                if let bound = bind(field) { fields.append(bound) }
            }
            if fields.count > start {
                let policy = (group.onConflict ?? rules.onConflict)?.ruled ?? Ruled(.clientWins)
                let merge = fields.count - start == group.fields.count ? function(of: group, fields[start...]) : nil
                let transitions =
                    fields.count - start == group.fields.count ? transitions(of: group, fields[start...]) : nil
                groups.append(
                    Group(
                        name: group.name.value, fields: start..<fields.count, onConflict: policy, merge: merge,
                        transitions: transitions, formerly: group.formerly.map(\.value)))
            }
        }
        var readOnly: [Field] = []
        for field in rules.readOnly {
            if let bound = bind(field) { readOnly.append(bound) }
        }
        return SectionFields(fields, groups: groups, readOnly: readOnly + lookups())
    }

    private mutating func settings(key: [String], parents: Set<String>, fields: [Field]) -> SectionRules {
        let covered = Set(rules.groups.flatMap(\.fields).map(\.column.value))
        checkCreation(
            key: key, parents: parents, covered: covered.union(rules.stamps.map(\.column.value)))
        var settings = SectionRules()
        if let policy = rules.onMissing {
            settings.onMissing = policy.ruled
            adviseOnRestoring(policy, fields)
        }
        if let policy = rules.onDeleteConflict { settings.onDeleteConflict = policy.ruled }
        settings.identity = identity(key: key, parents: parents, covered: covered)
        settings.visibility = rules.visibility?.ruled
        settings.softDelete = softDelete(key: key)
        settings.checks = checks(fields)
        settings.frozenWhen = rules.frozenWhen?.ruled
        settings.stamps = stamps(key: key, parents: parents, covered: covered)
        settings.allowsClientKeys = rules.clientKeys != nil
        return settings
    }

    private mutating func checkTable() {
        let place = rules.table?.place ?? rules.name.place
        if let name = table.columns.map(\.name).firstRepeated {
            findings.error(
                place,
                "table “\(table.name)” has two columns “\(name)” whose names differ only in their Unicode form; "
                    + "FieldMerge would take one for the other")
        }
        if table.isView, !table.isUpdatable {
            findings.error(place, "“\(table.name)” is a view that the database does not update; name its table instead")
        } else if !table.isTransactional, allowsNonTransactional {
            findings.warning(
                place,
                "table “\(table.name)” has the engine \(table.engine), which has no transactions: a push is undone "
                    + "step by step, and a crash in between leaves it torn")
        } else if !table.isTransactional {
            findings.error(
                place,
                "table “\(table.name)” has the engine \(table.engine), which has no transactions; a merge could be applied in part"
            )
        }
    }

    private mutating func keyColumns() -> [String] {
        if rules.key.isEmpty {
            if table.primaryKey.isEmpty { refuseWithoutKey() }
            return table.primaryKey
        }
        let known = rules.key.filter { name in
            if table.column(name.value) != nil { return true }
            missing(name)
            return false
        }
        if table.isView, let place = rules.key.first?.place {
            findings.warning(
                place,
                "the schema does not show that this key is unique in the view “\(table.name)”. If it is not, edits change more rows"
            )
        } else if known.count == rules.key.count, !table.isKey(known.map(\.value)), let place = rules.key.first?.place {
            findings.error(
                place,
                "no primary key or unique index of NOT NULL columns of table “\(table.name)” has exactly these columns "
                    + "(an index counts only if it has the collations of its columns)")
        }
        return known.map(\.value)
    }

    /// Refuses sets in a key, because a set and a key of several columns are both arrays on the wire.
    private mutating func refuseSets(among key: [String]) {
        for column in columns.prefix(key.count) {
            switch column.type {
            case .set, .delimitedSet:
                findings.error(
                    rules.key.first { $0.value == column.name }?.place ?? rules.table?.place ?? rules.name.place,
                    "column “\(column.name)” of the key of table “\(table.name)” is a set, which no id can spell; name "
                        + "another unique key by “key”, or leave the table out")
            default: break
            }
        }
    }

    /// Refuses to write rows without a key, because an edit cannot identify them.
    private mutating func refuseWithoutKey() {
        let place = rules.table?.place ?? rules.name.place
        if !rules.isList, !isRoot || !rules.groups.isEmpty {
            findings.error(
                place,
                "table “\(table.name)” has no primary key; name the columns of a unique index that are never NULL with "
                    + "“key”, or put all fields into “read-only”")
        } else if let group = rules.groups.first {
            findings.error(
                group.name.place,
                "the rows of table “\(table.name)” have no key, so they are only read; put the fields into “read-only”, or "
                    + "name a “key”")
        } else {
            findings.warning(place, "the rows of table “\(table.name)” have no key, so they are only read")
        }
    }

    mutating func missing(_ name: Placed<String>) {
        let parts = name.value.split(separator: ".", maxSplits: 1)
        if parts.count == 2, parts[0] != table.name.name {
            findings.error(
                name.place,
                "“\(name.value)” is not a column of table “\(table.name)”; a group cannot mix tables, give the other table a "
                    + "section of its own")
            return
        }
        findings.error(
            name.place,
            "table “\(table.name)” has no column “\(name.value)”" + nearest(name.value, table.columns.map(\.name)))
    }

    /// Returns the position of a column, and adds the column with its own type if it is new.
    mutating func add(_ name: String, _ place: Place, type: ColumnType? = nil) -> Int? {
        if let position = positions[name] { return position }
        guard let column = table.column(name) else {
            missing(Placed(value: name, place: place))
            return nil
        }
        guard let named = type ?? column.types.first else {
            findings.error(
                place,
                column.explicitTypes.isEmpty
                    ? "column “\(name)” has the type \(column.declaredType), which is not supported yet"
                    : "column “\(name)” has no declared type. Give it a “type” in the rules")
            return nil
        }
        positions[name] = columns.count
        let type = keyed.contains(name) ? column.keyType(for: named) : named
        columns.append(column.column(as: type))
        return columns.count - 1
    }

    private mutating func bind(_ field: RuleField) -> Field? {
        var type: ColumnType?
        if let column = table.column(field.column.value) {
            if let values = field.values, !references.schema.isGuessed {
                type = code(values, of: column)
                if type == nil { return nil }
            } else if let named = field.type {
                type = self.type(named, of: column, separator: field.separator?.value)
                if type == nil { return nil }
            }
        }
        let named = references.reference(of: field, in: table, &findings)
        if named != nil { keyed.insert(field.column.value) }
        if named != nil, let values = field.values {
            refuse(values, of: field.column.value)
            return nil
        }
        guard let position = add(field.column.value, field.column.place, type: type) else { return nil }
        let reference = named.flatMap {
            references.checked(
                $0, of: field, in: table, type: columns[position].type, &findings, &collations)
        }
        return Field(
            name: field.name.value, column: position, reference: reference, isPrivate: field.isPrivate,
            formerly: field.formerly.map(\.value))
    }

    private mutating func type(_ named: Placed<String>, of column: ColumnSchema, separator: String?) -> ColumnType? {
        let offered = column.types + column.explicitTypes
        guard let type = offered.first(where: { $0.name == named.value }) else {
            let names = offered.map(\.name).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            let advice = names.isEmpty ? "it is not supported yet" : "it can be \(names.joined(separator: ", "))"
            findings.error(
                named.place,
                "column “\(column.name)” of type \(column.declaredType) cannot be \(named.value); \(advice)"
                    + nearest(named.value, names))
            return nil
        }
        return type.separated(by: separator)
    }

    private mutating func checkWritable(
        _ field: RuleField, key: [String], parents: Set<String>, linked: [String]
    ) {
        let name = field.column.value
        if key.contains(name) {
            findings.error(
                field.column.place,
                "column “\(name)” is the key, which comes from “id”; leave it out or make it read-only")
        } else if parents.contains(name) {
            findings.error(
                field.column.place,
                "column “\(name)” ties the row to its record and is set from it; leave it out or make it read-only")
        } else if linked.contains(name) {
            findings.error(
                field.column.place, "column “\(name)” links other sections to the record; make it read-only")
        } else if let owned = table.column(name)?.serverOwned {
            findings.error(
                field.column.place, "column “\(name)” cannot be written, because \(owned); make it read-only")
        } else if table.column(name)?.isAutoIncrement == true {
            findings.error(field.column.place, "the database numbers column “\(name)” itself; make it read-only")
        }
    }

    private mutating func checkCreation(key: [String], parents: Set<String>, covered: Set<String>) {
        let isNumbered = rules.number != nil || key.contains { table.column($0)?.isAutoIncrement == true }
        if let permission = rules.clientKeys, !isNumbered {
            findings.warning(
                permission.place,
                "the database does not number the key of “\(table.name)”, so clients choose it without “client-keys”")
        }
        for column in table.columns {
            let isGiven =
                column.hasDefault || column.serverOwned != nil || key.contains(column.name)
                || parents.contains(column.name) || covered.contains(column.name) || supplied.contains(column.name)
            if !isGiven {
                findings.warning(
                    rules.name.place,
                    "column “\(column.name)” of table “\(table.name)” is NOT NULL without a default and in no group, so no "
                        + "client can create a row of section “\(rules.name.value)”")
            }
        }
    }
}

extension [String] {
    /// The first name that is equal to an earlier one; names in two Unicode forms are equal.
    fileprivate var firstRepeated: String? {
        var seen: Set<String> = []
        return first { !seen.insert($0).inserted }
    }
}
