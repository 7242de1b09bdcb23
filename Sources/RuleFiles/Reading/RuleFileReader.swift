import MergeCore
internal import Yams

func nearest(_ name: String, _ names: [String]) -> String { NearestName.hint(for: name, among: names) }

/// Reads the text of one rule file into a `RuleFile`, with all findings.
struct RuleFileReader {
    let file: String
    var findings = Findings()

    private static let typeNames = [
        "boolean", "set", "text", "integer", "decimal", "json", "float", "double", "enum", "date", "datetime",
        "timestamp", "time", "year", "bit", "binary", "uuid", "inet4", "inet6",
    ]

    private static let reserved: Set<String> = ["id", "old", "new", "oldHash"]

    init(file: String) {
        self.file = file
    }

    /// Returns nil if the file is unusable.
    mutating func read(_ text: String) -> RuleFile? {
        guard let root = YAMLSource.root(of: text, file: file, &findings),
            let mapping = YAMLMapping(root, file: file, what: "a rule file", &findings)
        else { return nil }
        mapping.refuseUnknown(
            ["resource", "description", "sections", "non-transactional", "access"], in: "a rule file", &findings)
        let resource = mapping.text("resource", &findings)
        if let resource {
            checkResourceName(resource)
        } else if mapping["resource"] == nil {
            findings.error(mapping.place, "the file names no resource; write “resource: NAME”")
        }
        let description = mapping.text("description", &findings)?.value
        let permission = mapping.choice("non-transactional", of: Permission.self, findings: &findings)
        let sections = readSections(mapping)
        let access = readAccess(mapping)
        guard let resource, let sections else { return nil }
        return RuleFile(
            resource: resource, description: description, allowsNonTransactional: permission?.value == .allow,
            sections: sections, access: access)
    }

    private mutating func checkResourceName(_ name: Placed<String>) {
        let isPlain = name.value.utf8.allSatisfy { byte in
            (byte >= 97 && byte <= 122) || (byte >= 48 && byte <= 57) || byte == UInt8(ascii: "-")
        }
        if name.value.utf8.count > NameIndex.maximumBytes {
            findings.error(name.place, "the name of a resource has at most \(NameIndex.maximumBytes) bytes")
        } else if !isPlain || name.value.hasPrefix("-") || name.value.hasSuffix("-") {
            findings.error(name.place, "a resource's name has lower-case letters, digits and, between them, hyphens")
        }
    }

    private mutating func readSections(_ mapping: YAMLMapping) -> [RuleSection]? {
        guard let node = mapping["sections"] else {
            findings.error(mapping.place, "the file has no sections; write “sections:” and the root section first")
            return nil
        }
        guard let sections = YAMLMapping(node, file: file, what: "“sections”", &findings) else { return nil }
        if sections.entries.isEmpty { findings.error(sections.place, "the file has no sections") }
        var out: [RuleSection] = []
        for (index, entry) in sections.entries.enumerated() {
            checkName(entry.key, "section")
            if let section = readSection(entry.key, node: entry.value, isRoot: index == 0) { out.append(section) }
        }
        return out.count == sections.entries.count && !out.isEmpty ? out : nil
    }

    mutating func checkName(_ name: Placed<String>, _ what: String) {
        if name.value.utf8.count > NameIndex.maximumBytes {
            findings.error(name.place, "the name of a \(what) has at most \(NameIndex.maximumBytes) bytes")
        }
        if Self.reserved.contains(name.value) {
            findings.error(name.place, "“\(name.value)” is reserved and names no \(what)")
        }
    }

    private mutating func readSection(_ name: Placed<String>, node: Node, isRoot: Bool) -> RuleSection? {
        guard let mapping = YAMLMapping(node, file: file, what: "section “\(name.value)”", &findings) else {
            return nil
        }
        mapping.refuseUnknown(
            [
                "table", "schema", "key", "groups", "read-only", "on-conflict", "on-missing", "on-delete-conflict",
                "list", "parent", "order", "identity", "where", "delete", "checks", "client-keys", "frozen-when",
                "undo-columns", "stamp", "lookups", "number",
            ], in: "a section", &findings)
        let table = mapping.text("table", &findings)
        if mapping["table"] == nil { findings.error(name.place, "section “\(name.value)” names no table") }
        let isList = mapping.flag("list", &findings) ?? false
        let parent = readParent(mapping)
        if isRoot {
            if isList {
                findings.error(mapping.place(of: "list"), "the first section is the root and cannot be a list")
            }
            if mapping["parent"] != nil {
                findings.error(mapping.place(of: "parent"), "the root section has no parent")
            }
        } else if mapping["parent"] == nil {
            findings.error(
                name.place,
                "section “\(name.value)” has no “parent”; write “parent: {COLUMN: COLUMN OF "
                    + "THE ROOT}”")
        }
        if mapping["order"] != nil, !isList {
            findings.error(mapping.place(of: "order"), "“order” belongs to a list")
        }
        var names: [String: Place] = [:]
        let groups = readGroups(mapping, names: &names)
        let readOnly = readReadOnly(mapping, names: &names)
        let lookups = readLookups(mapping, &names)
        refuseTwins(groups, readOnly: readOnly)
        refuseAmbiguousEarlierNames(of: groups, besides: readOnly)
        let section = RuleSection(
            name: name, isList: isList, table: table, schema: mapping.text("schema", &findings),
            key: mapping.names("key", &findings), parent: parent, order: mapping.names("order", &findings),
            groups: groups, readOnly: readOnly, lookups: lookups,
            onConflict: mapping.choice("on-conflict", of: ConflictPolicy.self, findings: &findings),
            onMissing: mapping.choice("on-missing", of: MissingPolicy.self, findings: &findings),
            onDeleteConflict: mapping.choice("on-delete-conflict", of: DeleteConflictPolicy.self, findings: &findings),
            identity: mapping.names("identity", &findings), visibility: mapping.text("where", &findings),
            softDelete: readDelete(mapping), checks: readChecks(mapping),
            frozenWhen: mapping.text("frozen-when", &findings),
            clientKeys: mapping.choice("client-keys", of: Permission.self, findings: &findings),
            number: mapping.choice("number", of: KeyNumbering.self, findings: &findings),
            stamps: readStamps(mapping), undoColumns: readUndoColumns(mapping))
        for (what, sql) in section.operatorSQL {
            if let fault = OperatorSQLShape.fault(in: sql.value) {
                findings.error(sql.place, "the SQL of \(what) \(fault)")
            }
        }
        return section
    }

    /// Reads `all`, one name, or a list of names.
    private mutating func readUndoColumns(_ mapping: YAMLMapping) -> UndoColumns? {
        guard let node = mapping["undo-columns"] else { return nil }
        if node.scalar?.string == "all" { return .all(mapping.place(of: "undo-columns")) }
        return .named(mapping.names("undo-columns", &findings))
    }

    private mutating func readParent(_ mapping: YAMLMapping) -> [RuleLink] {
        guard let node = mapping["parent"] else { return [] }
        guard node.mapping != nil else {
            return mapping.names("parent", &findings).map { RuleLink(column: $0, rootColumn: nil) }
        }
        guard let links = YAMLMapping(node, file: file, what: "“parent”", &findings) else { return [] }
        if links.entries.isEmpty { findings.error(links.place, "“parent” names no column") }
        return links.entries.compactMap { key, value in
            value.name(in: file, "the root's column of “\(key.value)”", &findings)
                .map { RuleLink(column: key, rootColumn: $0) }
        }
    }

    private mutating func readGroups(_ mapping: YAMLMapping, names: inout [String: Place]) -> [RuleGroup] {
        guard let node = mapping["groups"],
            let groups = YAMLMapping(node, file: file, what: "“groups”", &findings)
        else { return [] }
        var out: [RuleGroup] = []
        for (name, value) in groups.entries {
            checkName(name, "group")
            if let group = readGroup(name, node: value) {
                for field in group.fields { checkUnique(field.name, &names) }
                out.append(group)
            }
        }
        return out
    }

    mutating func checkUnique(_ name: Placed<String>, _ names: inout [String: Place]) {
        if let first = names[name.value] {
            findings.error(
                name.place, "the section has a field “\(name.value)” already, in line \(first.line)")
        } else {
            names[name.value] = name.place
        }
    }

    private mutating func refuseTwins(_ groups: [RuleGroup], readOnly: [RuleField]) {
        var covered: [String: Place] = [:]
        for field in groups.flatMap(\.fields) {
            if let first = covered[field.column.value] {
                findings.error(
                    field.column.place,
                    "column “\(field.column.value)” is in a group already, in line \(first.line)")
            } else {
                covered[field.column.value] = field.column.place
            }
        }
        for field in readOnly where covered[field.column.value] != nil {
            findings.error(field.column.place, "column “\(field.column.value)” is in a group already")
        }
    }

    private mutating func readGroup(_ name: Placed<String>, node: Node) -> RuleGroup? {
        if node.scalar != nil {
            let column = node.name(in: file, "the column of group “\(name.value)”", &findings)
            return column.map { column in
                let field = RuleField(name: name, column: column, type: nil, separator: nil, references: nil)
                return RuleGroup(name: name, fields: [field], onConflict: nil, merge: nil)
            }
        }
        guard let mapping = YAMLMapping(node, file: file, what: "group “\(name.value)”", &findings) else { return nil }
        mapping.refuseUnknown(
            [
                "column", "fields", "type", "values", "separator", "references", "private", "on-conflict", "merge",
                "transitions", "formerly",
            ], in: "a group", &findings)
        let policy = mapping.choice("on-conflict", of: ConflictPolicy.self, findings: &findings)
        let merge = readMerge(mapping)
        let transitions = readTransitions(mapping)
        let formerly = mapping.names("formerly", &findings)
        guard let node = mapping["fields"] else {
            return readField(name, mapping, known: true).map { field in
                var field = field
                field.formerly = formerly
                return RuleGroup(
                    name: name, fields: [field], onConflict: policy, merge: merge, transitions: transitions,
                    formerly: formerly)
            }
        }
        if let transitions {
            findings.error(transitions.place, "“transitions” is possible in a group of one field only")
        }
        for key in ["column", "type", "values", "separator", "references", "private"] where mapping[key] != nil {
            findings.error(mapping.place(of: key), "“\(key)” is next to a single column; put it into the field")
        }
        guard let fields = YAMLMapping(node, file: file, what: "“fields”", &findings) else { return nil }
        if fields.entries.isEmpty { findings.error(fields.place, "group “\(name.value)” has no fields") }
        let read = fields.entries.compactMap { readField($0.key, $0.value) }
        guard !read.isEmpty else { return nil }
        return RuleGroup(name: name, fields: read, onConflict: policy, merge: merge, formerly: formerly)
    }

    private mutating func readReadOnly(_ mapping: YAMLMapping, names: inout [String: Place]) -> [RuleField] {
        guard let node = mapping["read-only"],
            let fields = YAMLMapping(node, file: file, what: "“read-only”", &findings)
        else { return [] }
        let read = fields.entries.compactMap { readField($0.key, $0.value) }
        for field in read { checkUnique(field.name, &names) }
        return read
    }

    private mutating func readField(_ name: Placed<String>, _ node: Node) -> RuleField? {
        checkName(name, "field")
        if node.scalar != nil {
            return node.name(in: file, "the column of field “\(name.value)”", &findings).map {
                RuleField(name: name, column: $0, type: nil, separator: nil, references: nil)
            }
        }
        guard let mapping = YAMLMapping(node, file: file, what: "field “\(name.value)”", &findings) else { return nil }
        return readField(name, mapping, known: false)
    }

    private mutating func readField(_ name: Placed<String>, _ mapping: YAMLMapping, known: Bool) -> RuleField? {
        if !known {
            mapping.refuseUnknown(
                ["column", "type", "values", "separator", "references", "private", "formerly"], in: "a field", &findings
            )
        }
        guard let column = mapping.text("column", &findings) else {
            if mapping["column"] == nil {
                findings.error(name.place, "“\(name.value)” names no column; write “column: NAME” or “fields: {…}”")
            }
            return nil
        }
        let type = mapping.text("type", &findings)
        if let type, !Self.typeNames.contains(type.value) {
            findings.error(type.place, "“\(type.value)” is not a type\(nearest(type.value, Self.typeNames))")
        }
        let separator = mapping.text("separator", &findings)
        if let separator, type == nil || type?.value != "set", type.map({ Self.typeNames.contains($0.value) }) ?? true {
            findings.error(separator.place, "“separator” belongs to “type: set”")
        }
        return RuleField(
            name: name, column: column, type: type, separator: separator,
            references: mapping.text("references", &findings),
            isPrivate: mapping.flag("private", &findings) ?? false, values: readValues(mapping, type: type),
            formerly: known ? [] : mapping.names("formerly", &findings))
    }
}
