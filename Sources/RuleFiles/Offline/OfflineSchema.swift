package import MergeCore
package import RecordStore

/// Stands in for the schema of a database that is not at hand.
///
/// Every table and column that the rules name is there. A column's type is the one that a rule names, or else one that
/// the group's merge function serves, or else one that fits the samples; text where there are none.
package enum OfflineSchema {
    /// - Parameters:
    ///   - resource: the one that the samples are of; what other files name is there without samples.
    ///   - samples: records in the shape of `GET /v1/records`.
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
            section.parent.map(\.column) + section.order + section.identity
            + (section.softDelete?.assignments.map(\.column) ?? []) + (section.undoColumns?.names ?? [])
        for column in others { add(column.value) }
    }

    /// The columns that rules of access name.
    fileprivate mutating func add(_ columns: [Placed<String>]) {
        for column in columns { add(column.value) }
    }

    /// The columns of the root that another section hangs on.
    fileprivate mutating func addTargets(of section: RuleSection, root: RuleSection, in records: [Scalar]) {
        let keyCount =
            root.key.isEmpty ? SampleSection(root, isRoot: true, in: records).keyCount ?? 1 : root.key.count
        for link in section.parent {
            if let named = link.rootColumn {
                add(named.value)
            } else if keyCount > 1 {
                // The short form means the key only where that is one column.
                add(link.column.value)
            }
        }
    }
}
