import MergeCore
import MergeService
import RecordStore
import RuleFiles

/// Prepares each kind of statement that the rules allow on a section.
///
/// So a missing right or a read-only view becomes a finding and not a refused push. Nothing is executed, so no trigger
/// runs and no row is locked.
struct VerbProbe {
    let engine: any RecordEngine
    let patience: Duration

    /// Adds a warning for each statement that the database denies.
    ///
    /// - Throws: `StoreError` if the database cannot be reached.
    func add(to findings: inout Findings, of rules: RuleFolder, bound catalog: Catalog) async throws(StoreError) {
        let trials = catalog.resources.flatMap { resource in
            resource.sections.indices.flatMap { Self.trials(of: resource, section: $0, engine.dialect) }
        }
        let refusals = try await engine.refusals(
            of: trials.map(\.statement), deadline: .now.advanced(by: patience))
        for (trial, refusal) in zip(trials, refusals) {
            guard let refusal, refusal.kind == .denied,
                let place = rules.place(ofSection: trial.section.name, in: trial.resource.name)
            else { continue }
            let hint =
                refusal.message.contains("lacks a right") ? "; “fieldmerge check --grants” prints the GRANT" : ""
            findings.warning(
                place,
                "rows of table “\(trial.section.table)” cannot be \(trial.verb.participle), which the rules allow: "
                    + refusal.message + hint, isMissingRight: true)
        }
    }

    private enum Verb {
        case read, insert, update, delete

        var participle: String {
            switch self {
            case .read: "read"
            case .insert: "inserted"
            case .update: "updated"
            case .delete: "deleted"
            }
        }
    }

    private struct Trial {
        let verb: Verb
        let resource: Resource
        let section: Section
        let statement: Statement
    }

    private static func trials(of resource: Resource, section index: Int, _ dialect: any Dialect) -> [Trial] {
        let section = resource.sections[index]
        let rights = AllowedVerbs(resource, section: index)
        let sql = SectionSQL.of(section, dialect)
        func empty(_ columns: some Sequence<Int>) -> [Assignment] {
            columns.map { Assignment(column: $0, value: .null) }
        }
        let address = section.keyCount > 0 ? Array(0..<section.keyCount) : section.parent.map(\.column)
        var trials: [(Verb, Statement)] = []
        if !address.isEmpty {
            trials.append(
                (
                    .read,
                    sql.select(
                        where: address, in: [address.map { _ in .null }], locking: rights.writesAnything,
                        includesHidden: true)
                ))
        }
        if rights.inserts {
            let named = (0..<section.keyCount).filter { column in
                section.gatewayNumbersKey || column != section.generatedKeyColumn
            }
            let columns = Set(named + section.parent.map(\.column) + rights.updated)
            trials.append((.insert, sql.insert(empty(columns.sorted()))))
        }
        if !rights.updated.isEmpty, !address.isEmpty {
            trials.append((.update, sql.update(empty(rights.updated), key: empty(address))))
        }
        if rights.deletes, !address.isEmpty {
            let set = section.softDelete?.value
            trials.append(
                (.delete, set.map { sql.softDelete($0, key: empty(address)) } ?? sql.delete(key: empty(address))))
        }
        return trials.map { Trial(verb: $0.0, resource: resource, section: section, statement: $0.1) }
    }
}

/// The kinds of writes to one section that the rules allow to at least one client.
private struct AllowedVerbs {
    /// The columns that are written in existing rows.
    let updated: [Int]
    let inserts: Bool
    let deletes: Bool

    var writesAnything: Bool { inserts || deletes || !updated.isEmpty }

    init(_ resource: Resource, section index: Int) {
        let section = resource.sections[index]
        let roles = resource.access?.roles
        let isWritten = GrantStatements.isWritten(section)
        func may(_ rights: [SectionRights], _ field: Field) -> Bool {
            let position = section.shown.firstIndex { $0.name == field.name }
            return rights[index].isGiven && position.map { rights[index].fields[$0] } ?? false
        }
        let fields = section.fields.filter { field in roles?.contains { may($0.writes, field) } != false }
        let stamped = fields.isEmpty ? [] : section.stamps.map(\.column)
        updated = Set(fields.map(\.column) + stamped).subtracting(0..<section.keyCount).sorted()
        let deletesRecords = GrantStatements.isWritten(resource.root) && roles?.contains(where: \.deletes) != false
        guard section.kind != .root else {
            inserts = isWritten && roles?.contains(where: \.creates) != false
            deletes = deletesRecords
            return
        }
        inserts =
            isWritten
            && roles?.contains { role in
                role.initial[index].isGiven && section.fields.allSatisfy { may(role.initial, $0) }
            } != false
        // Deleting a record deletes its rows.
        let deletesItems =
            isWritten
            && roles?.contains { role in
                role.writes[index].isGiven && section.fields.allSatisfy { may(role.writes, $0) }
            } != false
        deletes = deletesItems || (deletesRecords && resource.root.softDelete == nil)
    }
}
