package import MergeCore
package import RecordStore

/// A guessed schema, for use without a database.
///
/// It contains every table and column of the rules. A column has the type in the rules. Else it has a type that the
/// group's merge function supports, or that fits the samples. Otherwise it is text.
package enum OfflineSchema {
    /// Returns a schema, with samples of one resource in the form of `GET /v1/records`.
    package static func make(for folder: RuleFolder, resource: String, samples: [Scalar]) -> DatabaseSchema {
        var tables: [TableName: OfflineTable] = [:]
        for file in folder.files {
            let records = file.resource.value == resource ? samples : []
            for (index, section) in file.sections.enumerated() {
                guard let name = section.tableName else { continue }
                let sample = SampleSection(section, isRoot: index == 0, in: records)
                tables[name, default: OfflineTable()].add(section, sample)
                if index == 0 { tables[name, default: OfflineTable()].add(file.access?.columns ?? []) }
                if index > 0, let root = file.sections.first, let table = root.tableName {
                    tables[table, default: OfflineTable()].addTargets(of: section, root: root, in: records)
                }
            }
        }
        let schemas = tables.map { $0.value.schema($0.key) }
        return DatabaseSchema(
            tables: Dictionary(schemas.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }),
            allNames: schemas.map(\.name.name).sorted(), isGuessed: true)
    }
}

extension OfflineTable {
    fileprivate mutating func add(_ section: RuleSection, _ sample: SampleSection) {
        if section.key.isEmpty {
            addUnnamedKey(sample)
        } else {
            addKey(section.key.map(\.value), sample)
        }
        for group in section.groups {
            for field in group.fields {
                add(field.column.value, OfflineUse(field, in: group), holding: sample.values(of: field.name.value))
                addWritten(field.column.value)
            }
        }
        for field in section.readOnly {
            let use = field.type.map { OfflineUse.named($0.value) } ?? .plain
            add(field.column.value, use, holding: sample.values(of: field.name.value))
        }
        let others =
            section.parent.map(\.column) + section.stamps.map(\.column) + section.lookups.map(\.along) + section.order
            + section.identity
            + (section.softDelete?.assignments.map(\.column) ?? []) + (section.undoColumns?.names ?? [])
        for column in others { add(column.value) }
    }

    /// Adds the columns of access rules.
    fileprivate mutating func add(_ columns: [Placed<String>]) {
        for column in columns { add(column.value) }
    }

    /// Adds the root's columns that another section refers to.
    fileprivate mutating func addTargets(of section: RuleSection, root: RuleSection, in records: [Scalar]) {
        let keyCount =
            root.key.isEmpty ? SampleSection(root, isRoot: true, in: records).keyCount ?? 1 : root.key.count
        for link in section.parent {
            if let named = link.rootColumn {
                add(named.value)
            } else if keyCount > 1 {
                // The short form denotes the key only if that is one column.
                add(link.column.value)
            }
        }
    }
}
