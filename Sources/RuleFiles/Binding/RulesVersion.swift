internal import Crypto
import MergeCore
import RecordStore

/// The digest with which clients detect a change of the rules.
enum RulesVersion {
    /// Returns a digest of the meaning of the rules and of the types of their columns.
    ///
    /// A comment does not change it, an altered column does. All gateways of a database compute the same digest.
    static func digest(_ resources: [Resource], _ schema: DatabaseSchema) -> String {
        var hash = SHA256()
        for resource in resources.sorted(by: { $0.name < $1.name }) {
            add(["resource", resource.name, resource.description ?? ""], &hash)
            for section in resource.sections { add(section, in: schema, to: &hash) }
            if let access = resource.access { add(access, of: resource, to: &hash) }
        }
        return hash.finalize().prefix(16).map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }.joined()
    }

    /// The length before each word makes different lists have different bytes.
    private static func add(_ words: [String], _ hash: inout SHA256) {
        for word in words {
            hash.update(data: Array("\(word.utf8.count):".utf8))
            hash.update(data: Array(word.utf8))
        }
    }

    private static func add(_ section: Section, in schema: DatabaseSchema, to hash: inout SHA256) {
        add(
            [
                "section", section.name, section.kind.rawValue, section.table.description, "\(section.keyCount)",
                section.onMissing.value.rawValue, section.onDeleteConflict.value.rawValue,
                section.visibility?.value ?? "",
            ], &hash)
        add(["identity"] + (section.identity?.value ?? []).map { "\($0)" }, &hash)
        for assignment in section.softDelete?.value ?? [] { add(["delete", assignment.column, assignment.sql], &hash) }
        for check in section.checks {
            add(["check", check.name, check.sql, check.onFailure.rawValue] + check.fields.map { "\($0)" }, &hash)
        }
        for stamp in section.stamps {
            add(["stamp", section.columns[stamp.column].name, String(describing: stamp.source)], &hash)
        }
        if let frozen = section.frozenWhen { add(["frozen", frozen.value], &hash) }
        let table = schema.tables[section.table]
        for column in section.columns {
            let declared = table?.column(column.name)
            add(
                [
                    "column", column.name, column.type.name, declared?.declaredType ?? "",
                    column.isNullable ? "null" : "not null", declared?.hasDefault == true ? "default" : "",
                    declared?.isAutoIncrement == true ? "generated" : "",
                ], &hash)
            if let step = column.lookup {
                let shown = schema.tables[step.table]?.column(step.column.name)
                add(
                    ["lookup", step.own.name, step.table.description, step.key.name, shown?.declaredType ?? ""], &hash)
            }
            if case .delimitedSet(let separator, _) = column.type { add([separator], &hash) }
            if case .coded(let code) = column.type {
                add(["values", code.type.name, String(describing: code.yes), String(describing: code.no)], &hash)
            }
        }
        for group in section.groups {
            add(["group", group.name, group.onConflict.value.rawValue, group.merge?.value.name ?? ""], &hash)
            if !group.formerly.isEmpty { add(["formerly"] + group.formerly, &hash) }
            switch group.merge?.value {
            case .latest(let field): add(["\(field)"], &hash)
            case .json(let key?): add([key.string], &hash)
            default: break
            }
            if let steps = group.transitions?.value {
                let texts = steps.map { from, to in
                    String(describing: from) + ">" + to.map { String(describing: $0) }.sorted().joined(separator: "|")
                }
                add(["transitions"] + texts.sorted(), &hash)
            }
            for field in section.fields[group.fields] { add(field, &hash) }
        }
        for field in section.readOnly { add(["read-only"], &hash); add(field, &hash) }
        if section.allowsClientKeys { add(["client-keys"], &hash) }
        if section.gatewayNumbersKey { add(["number"], &hash) }
        for link in section.parent { add(["parent", "\(link.column)", "\(link.rootColumn)"], &hash) }
        add(["order"] + section.order.map { "\($0)" }, &hash)
        let undoColumns = section.keptColumns.filter { !named($0, in: section) }
        if !undoColumns.isEmpty { add(["undo-columns"] + undoColumns, &hash) }
    }

    /// Returns true if the rules of a section name a column elsewhere than in `undo-columns`.
    private static func named(_ column: String, in section: Section) -> Bool {
        let deletion = section.softDelete?.value ?? []
        let sql =
            [section.visibility?.value, section.frozenWhen?.value].compactMap(\.self) + section.checks.map(\.sql)
            + deletion.map(\.sql)
        return section.columns.contains { $0.name == column } || deletion.contains { $0.column == column }
            || sql.contains { SQLWords.mention(column, in: $0) }
    }

    private static func add(_ access: AccessRules, of resource: Resource, to hash: inout SHA256) {
        let columns = resource.root.columns
        for role in access.roles {
            add(["role", role.name.string, role.creates ? "creates" : "", role.deletes ? "deletes" : ""], &hash)
            for rights in role.reads + role.writes {
                add([rights.isGiven ? "given" : "", rights.fields.map { $0 ? "1" : "0" }.joined()], &hash)
            }
            if role.initial != role.writes {
                for rights in role.initial {
                    add(
                        ["initial", rights.isGiven ? "given" : "", rights.fields.map { $0 ? "1" : "0" }.joined()], &hash
                    )
                }
            }
            for condition in role.conditions {
                add(["rows", columns[condition.column].name, String(describing: condition.test)], &hash)
            }
            for set in role.sets { add(["set", columns[set.column].name, set.claim], &hash) }
        }
    }

    private static func add(_ field: Field, _ hash: inout SHA256) {
        add(
            [
                "field", field.name, "\(field.column)", field.isPrivate ? "private" : "",
                field.reference?.resource ?? "",
                field.reference?.section ?? "",
            ], &hash)
        if !field.formerly.isEmpty { add(["formerly"] + field.formerly, &hash) }
    }
}
