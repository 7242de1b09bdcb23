package import MergeCore
package import RecordStore

/// Binds rule files to the current schema: from names in files to columns with types.
package struct RuleBinder {
    private let files: [RuleFile]
    private let schema: DatabaseSchema
    private var findings = Findings()
    private var collations = CollationAdvice()

    private init(_ files: [RuleFile], _ schema: DatabaseSchema) {
        self.files = files
        self.schema = schema
    }

    /// Returns the catalog, or nil if there is an error, and all findings.
    package static func bind(_ folder: RuleFolder, to schema: DatabaseSchema) -> (catalog: Catalog?, findings: Findings)
    {
        var binder = RuleBinder(folder.files, schema)
        var resources: [Resource] = []
        for file in folder.files {
            if let resource = binder.bind(file) { resources.append(resource) }
        }
        binder.collations.add(to: &binder.findings)
        if resources.count == folder.files.count {
            LookupAdvice(files: folder.files, resources: resources).add(to: &binder.findings)
        }
        var all = folder.findings
        for finding in binder.findings.all { all.append(finding) }
        guard !all.hasErrors, resources.count == folder.files.count else { return (nil, all) }
        return (Catalog(resources: resources, version: RulesVersion.digest(resources, schema)), all)
    }

    private mutating func bind(_ file: RuleFile) -> Resource? {
        guard let first = file.sections.first else { return nil }
        let rootTable = table(of: first)
        // Root columns that other sections refer to are always read, even if clients cannot read them.
        var links: [[(own: Placed<String>, root: String)]] = []
        for section in file.sections { links.append(rootLinks(of: section, root: first, table: rootTable)) }
        let linked = links.flatMap { $0.map(\.root) }
        var sections: [Section] = []
        var root: Section?
        for (index, section) in file.sections.enumerated() {
            let table = index == 0 ? rootTable : table(of: section)
            guard let table else { continue }
            var binder = SectionBinder(
                section, table, isRoot: index == 0, allowsNonTransactional: file.allowsNonTransactional, schema: schema,
                files: files, supplied: index == 0 ? file.access?.supplied ?? [] : [])
            let bound = binder.bind(
                extraColumns: index == 0 ? linked : [], access: index == 0 ? file.access : nil, links: links[index],
                root: root)
            for finding in binder.findings.all { findings.append(finding) }
            collations.add(binder.collations)
            guard let bound else { continue }
            if index == 0 {
                root = bound
            } else if let root, let rootTable {
                check(links[index], of: bound, table, to: root, rootTable)
                LinkAdvice(section: bound, table: table, root: root, rootTable: rootTable, place: section.name.place)
                    .add(to: &findings)
            }
            sections.append(bound)
        }
        if let root, root.keyCount == 0, file.sections.count > 1 {
            findings.error(
                file.sections[1].name.place,
                "the root's rows have no key, so rows of other sections cannot be assigned to them")
        }
        guard sections.count == file.sections.count else { return nil }
        var access: AccessRules?
        if let rules = file.access, let rootTable {
            var binder = AccessBinder(rules, sections: sections, table: rootTable)
            access = binder.bind()
            for finding in binder.findings.all { findings.append(finding) }
        }
        return Resource(
            name: file.resource.value, description: file.description, sections: sections, access: access)
    }

    /// Checks that the columns that link a section's rows to a record can be compared exactly.
    private mutating func check(
        _ links: [(own: Placed<String>, root: String)], of section: Section, _ table: TableSchema, to root: Section,
        _ rootTable: TableSchema
    ) {
        if schema.isGuessed { return }
        for (link, ends) in zip(links, section.parent) {
            guard let own = LinkCheck.End(link.own.value, of: table, type: section.columns[ends.column].type),
                let target = LinkCheck.End(link.root, of: rootTable, type: root.columns[ends.rootColumn].type)
            else { continue }
            let check = LinkCheck(own: own, target: target)
            if let fault = check.fault { findings.error(link.own.place, fault) }
            collations.note(check.inexactTexts, link.own.place)
        }
    }

    private mutating func table(of section: RuleSection) -> TableSchema? {
        guard let name = section.tableName, let place = section.table?.place else { return nil }
        guard let table = schema.tables[name] else {
            let hint = name.schema == nil ? nearest(name.name, schema.allNames) : ""
            findings.error(place, "the database has no table “\(name)”\(hint)")
            return nil
        }
        return table
    }

    /// Returns the column of the root that each parent column follows.
    private mutating func rootLinks(
        of section: RuleSection, root: RuleSection, table: TableSchema?
    ) -> [(own: Placed<String>, root: String)] {
        guard let table else { return [] }
        let key = root.key.isEmpty ? table.primaryKey : root.key.map(\.value)
        return section.parent.compactMap { link in
            if let named = link.rootColumn {
                if table.column(named.value) != nil { return (link.column, named.value) }
                findings.error(
                    named.place,
                    "the root's table “\(table.name)” has no column “\(named.value)”"
                        + nearest(named.value, table.columns.map(\.name)))
                return nil
            }
            // The short form denotes the root's column of the same name, else its key.
            if table.column(link.column.value) != nil { return (link.column, link.column.value) }
            if key.count == 1 { return (link.column, key[0]) }
            findings.error(
                link.column.place,
                "the root's table has no column “\(link.column.value)”; write “{\(link.column.value): COLUMN OF THE ROOT}”"
            )
            return nil
        }
    }
}
