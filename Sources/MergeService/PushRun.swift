import MergeCore
import RecordStore

/// One run of a push inside its transaction: lock and read, decide, write, read again.
///
/// It lives as long as the transaction's closure, which may run again from the start; so nothing outlives it.
final class PushRun {
    private let session: any StoreSession
    private let dialect: Dialect
    private let plan: PushPlan
    private let served: Served
    private let limits: MergeLimits
    private let digest: GroupDigest
    private var reports: [EditReport]
    /// The keys of the rows created so far.
    private var created: [TemporaryID: RecordKey] = [:]
    /// What takes back the writes to tables that do not do so by themselves, the last first.
    private var inverses: [Statement] = []
    /// Something was refused, so the rest is only decided, to tell the client all conflicts at once.
    private var isDoomed = false

    init(
        _ plan: PushPlan, _ served: Served, session: any StoreSession, dialect: Dialect, limits: MergeLimits,
        digest: @escaping GroupDigest
    ) {
        self.plan = plan
        self.served = served
        self.session = session
        self.dialect = dialect
        self.limits = limits
        self.digest = digest
        reports = plan.push.edits.map(EditReport.init)
    }

    func run() throws(StoreError) -> Ending<PushAttempt> {
        do {
            try lockRoots()
            switch plan.push.atomicity {
            case .push: try runTogether()
            case .edit: try runEachAlone()
            }
            let stands =
                plan.push.atomicity == .push
                ? reports.allSatisfy(\.isMerged) : reports.isEmpty || reports.contains(where: \.isMerged)
            guard stands else {
                try takeBack(to: 0)
                for index in reports.indices { reports[index].rollBack() }
                return .rollback(PushAttempt(reports: reports, records: nil))
            }
            let records = try RecordCollector(session, dialect, limits).records(of: reports)
            return .commit(PushAttempt(reports: reports, records: records))
        } catch let error as StoreError {
            try takeBack(to: 0)
            throw error
        } catch let fault as Problem {
            try takeBack(to: 0)
            return .rollback(PushAttempt(reports: reports, fault: fault))
        } catch {
            throw StoreError(.other, "a push ended with an unknown error")
        }
    }

    // MARK: Order

    /// Locks every root that is known beforehand, in one order for all pushes, so that they do not wait in a circle.
    private func lockRoots() throws {
        var keys: [String: (section: Section, keys: Set<RecordKey>)] = [:]
        for step in plan.steps {
            guard let key = step.edit.id.key else { continue }
            let root = step.edit.resource.root
            keys[root.table.description, default: (root, [])].keys.insert(key)
        }
        guard keys.count > 1 || (keys.first?.value.keys.count ?? 0) > 1 else { return }
        for name in keys.keys.sorted() {
            guard let (root, wanted) = keys[name] else { continue }
            let sorted = wanted.sorted { $0.precedes($1) }
            _ = try reader(for: root).rows(
                of: root, where: Array(0..<root.keyCount), in: sorted.map(\.parts), locking: true)
        }
    }

    private func runTogether() throws {
        for wave in waves() {
            let context = try load(wave)
            for step in wave {
                do {
                    try apply(step, context)
                } catch let refusal as Refusal {
                    reports[step.index].problem = refusal.problem
                    return
                }
                if reports[step.index].isRejected { isDoomed = true }
            }
        }
    }

    /// Runs of edits that touch different records, and so can be read at once.
    private func waves() -> [[PushPlan.Step]] {
        var waves: [[PushPlan.Step]] = []
        var wave: [PushPlan.Step] = []
        var touched: Set<RecordKey> = []
        var resource: String?
        for step in plan.steps {
            let isRepeated = step.edit.id.key.map { touched.contains($0) } ?? false
            let needsWave = step.needs.contains { needed in wave.contains { $0.index == needed } }
            if isRepeated || needsWave || (resource != nil && resource != step.edit.resource.name) {
                waves.append(wave)
                wave = []
                touched = []
            }
            resource = step.edit.resource.name
            if let key = step.edit.id.key { touched.insert(key) }
            wave.append(step)
        }
        return wave.isEmpty ? waves : waves + [wave]
    }

    private func runEachAlone() throws {
        // Engines without transactions know no savepoints either (Aria: error 1178), and what they take back by hand
        // would leave the others behind.
        let hasSavepoints = plan.push.edits.allSatisfy(\.resource.isAtomic)
        guard hasSavepoints || !plan.push.edits.contains(where: \.resource.isAtomic) else {
            throw Problem(
                status: 400, code: "invalid", title: "Resources that do not go together",
                detail: "A push of atomic: edit cannot mix resources with and without transactions; send two.",
                path: WirePath("atomic"))
        }
        for step in plan.steps {
            if let needed = step.needs.sorted().first(where: { !reports[$0].isMerged }) {
                reports[step.index].problem = Problem(
                    status: 422, code: "depends-on-refused", title: "A row that this edit refers to was not created",
                    detail: "edits[\(needed)], which would have created it, was refused.", path: step.edit.path,
                    retry: false)
                continue
            }
            if hasSavepoints { try session.setSavepoint() }
            let mark = inverses.count
            do {
                try apply(step, try load([step]))
            } catch let refusal as Refusal {
                reports[step.index].problem = refusal.problem
            }
            if reports[step.index].isMerged {
                if hasSavepoints { try session.releaseSavepoint() }
            } else {
                try takeBack(to: mark)
                if hasSavepoints {
                    try session.rollBackToSavepoint()
                    try session.releaseSavepoint()
                }
                for mapping in reports[step.index].ids { created[mapping.temporary] = nil }
                reports[step.index].rollBack()
            }
        }
    }

    // MARK: Reading

    private func reader(for section: Section) -> RecordReader {
        RecordReader(
            resource: plan.steps[0].edit.resource, session: session, dialect: dialect,
            rowsPerRecord: limits.rowsPerRecord)
    }

    private func load(_ wave: [PushPlan.Step]) throws -> RowContext {
        var context = RowContext()
        var wanted: [SectionID: (section: Section, keys: Set<RecordKey>)] = [:]
        for step in wave {
            let resource = step.edit.resource
            if let key = settled(step.edit.id, in: resource.root, root: nil) {
                let id = SectionID(resource: resource.name, section: 0)
                wanted[id, default: (resource.root, [])].keys.insert(key)
            }
            for row in step.rows where row.section > 0 {
                guard let key = row.id.flatMap({ settled($0, in: resource.sections[row.section], root: nil) }) else {
                    continue
                }
                let id = SectionID(resource: resource.name, section: row.section)
                wanted[id, default: (resource.sections[row.section], [])].keys.insert(key)
            }
        }
        for id in wanted.keys.sorted(by: { ($0.section, $0.resource) < ($1.section, $1.resource) }) {
            guard let (section, keys) = wanted[id] else { continue }
            let sorted = keys.sorted { $0.precedes($1) }
            let rows = try reader(for: section).rows(
                of: section, where: Array(0..<section.keyCount), in: sorted.map(\.parts), locking: true)
            context.store(rows, of: section, as: id)
        }
        return context
    }

    /// The key of a row id with every temporary id replaced, and parent columns taken from the record's root row.
    private func settled(_ id: RowID, in section: Section, root: [Value]?) -> RecordKey? {
        var values: [Value] = []
        for part in id.parts {
            switch part {
            case .value(let value): values.append(value)
            case .temporary(let temporary):
                guard let value = reference(temporary) else { return nil }
                values.append(value)
            case .generated: return nil
            }
        }
        return RecordKey(values)
    }

    /// The value that stands for a created row where another refers to it.
    private func reference(_ id: TemporaryID) -> Value? { created[id]?.parts.last }

    private func row(
        _ key: RecordKey?, _ id: SectionID, _ section: Section, _ context: RowContext, equated: Bool
    ) throws -> [Value]? {
        guard let key else { return nil }
        if let row = context[id, key] { return row }
        // A key of a row that the collation equates is taken, but only for whoever would create it.
        guard equated, key.hasText else { return nil }
        return try reader(for: section).rows(
            of: section, where: Array(0..<section.keyCount), in: [key.parts], locking: true
        ).first
    }

    // MARK: Deciding and writing

    private func apply(_ step: PushPlan.Step, _ context: RowContext) throws {
        let resource = step.edit.resource
        let rootID = SectionID(resource: resource.name, section: 0)
        let key = settled(step.edit.id, in: resource.root, root: nil)
        if let key { reports[step.index].key = key }
        var root = try row(key, rootID, resource.root, context, equated: step.edit.createsRecord)
        if root == nil, step.edit.id.isSuspect { throw Self.unknownRow(step.edit.path) }
        for edit in step.rows {
            if dependsOnUnknown(edit) {
                if isDoomed { continue }
                throw StoreError(.other, "a row was to be written before the row that it refers to")
            }
            if edit.section == 0 {
                root = try applyRoot(edit, step, root)
            } else {
                try applyPart(edit, step, root, context)
            }
        }
        if let root { reports[step.index].key = resource.root.key(of: root) }
    }

    private func dependsOnUnknown(_ edit: RowEdit) -> Bool {
        switch edit.action {
        case .create(let new): new.resolved(reference).pending.isEmpty == false
        case .edit(let groups): groups.contains { !$0.edited.resolved(reference).pending.isEmpty }
        case .delete: false
        }
    }

    private func decider(_ section: Section) -> RowDecider {
        RowDecider(section: section) { [digest] group, values in digest(section, group, values) }
    }

    /// - Returns: the root row as far as the other rows of the record need it; nil where it is gone.
    private func applyRoot(_ edit: RowEdit, _ step: PushPlan.Step, _ current: [Value]?) throws -> [Value]? {
        let section = step.edit.resource.root
        if let current { try ForeignBase(section).check(edit, against: current) }
        let decision = decider(section).decide(edit.action.resolved(reference), item: nil, current: current)
        record(decision, section: 0, step)
        if isDoomed || reports[step.index].isRejected { return current }
        switch decision.change {
        case .none: return current
        case .update(let assignments):
            try update(assignments, section, current ?? [], edit, step)
            return current
        case .insert(let assignments):
            let key = try insert(assignments, edit, step, root: nil)
            reports[step.index].key = key
            return try reader(for: section).rows(
                of: section, where: Array(0..<section.keyCount), in: [key.parts], locking: true
            ).first
        case .delete:
            try deleteRecord(current ?? [], edit, step)
            return nil
        }
    }

    private func applyPart(
        _ edit: RowEdit, _ step: PushPlan.Step, _ root: [Value]?, _ context: RowContext
    ) throws {
        let resource = step.edit.resource
        let section = resource.sections[edit.section]
        let action = edit.action.resolved(reference)
        let key = edit.id.flatMap { settled($0, in: section, root: root) }
        let decider = decider(section)
        guard let root else {
            var decision = decider.decideWithoutRecord(action, item: key)
            if key == nil, let temporary = edit.id?.temporary {
                for index in decision.outcomes.indices { decision.outcomes[index].item = .temporary(temporary) }
            }
            record(decision, section: edit.section, step)
            return
        }
        if let key { try check(key, of: section, belongsTo: root, edit) }
        let isCreation = if case .create = edit.action { true } else { false }
        var current: [Value]?
        if section.kind == .singleton {
            current = try reader(for: section).rows(of: section, in: root, locking: true).first
        } else {
            let id = SectionID(resource: resource.name, section: edit.section)
            current = try row(key, id, section, context, equated: isCreation)
            if let found = current, try !belongs(found, section, to: root) { current = nil }
            if current == nil, edit.id?.isSuspect == true { throw Self.unknownRow(edit.path) }
        }
        if let current { try ForeignBase(section).check(edit, against: current) }
        let label = section.kind == .list ? current.map { section.key(of: $0) } ?? key : nil
        let decision = decider.decide(action, item: label, current: current)
        let first = reports[step.index].outcomes.count
        record(decision, section: edit.section, step)
        if isDoomed || reports[step.index].isRejected { return }
        switch decision.change {
        case .none: return
        case .update(let assignments): try update(assignments, section, current ?? [], edit, step)
        case .insert(let assignments):
            let key = try insert(assignments, edit, step, root: root)
            if section.kind == .list { reports[step.index].outcomes[first].item = .key(key) }
        case .delete: try delete(current ?? [], section, edit, step, outcome: first)
        }
    }

    private func record(_ decision: RowDecision, section: Int, _ step: PushPlan.Step) {
        for var outcome in decision.outcomes {
            outcome.section = section
            reports[step.index].outcomes.append(outcome)
        }
        if decision.isRejected { reports[step.index].isRejected = true }
    }

    private func belongs(_ row: [Value], _ section: Section, to root: [Value]) throws -> Bool {
        if section.parent.allSatisfy({ row[$0.column] == root[$0.rootColumn] }) { return true }
        guard section.isLinkedByText else { return false }
        return try reader(for: section).rows(of: section, in: root, locking: true).contains(row)
    }

    /// A key that names another record than the one it stands in is a mistake of the client's.
    private func check(_ key: RecordKey, of section: Section, belongsTo root: [Value], _ edit: RowEdit) throws {
        for link in section.parent
        where link.column < section.keyCount && key.parts[link.column] != root[link.rootColumn] {
            throw Problem(
                status: 400, code: "invalid", title: "The key contradicts the record",
                detail: "The item's key names another record than the one it stands in.", path: edit.path.member("id"))
        }
    }

    private static func unknownRow(_ path: WirePath) -> Problem {
        Problem(
            status: 400, code: "temporary-id", title: "Unknown temporary id",
            detail: "A negative id names a row that this push creates; it creates none of that name.",
            path: path.member("id"))
    }

    private func insert(
        _ assignments: [Assignment], _ edit: RowEdit, _ step: PushPlan.Step, root: [Value]?
    ) throws -> RecordKey {
        let section = step.edit.resource.sections[edit.section]
        var key: [Assignment] = []
        for (column, part) in (edit.id?.parts ?? []).enumerated() {
            switch part {
            case .value(let value): key.append(Assignment(column: column, value: value))
            case .temporary(let id):
                if let value = reference(id) { key.append(Assignment(column: column, value: value)) }
            case .generated: break
            }
        }
        for link in section.parent where !key.contains(where: { $0.column == link.column }) {
            if let root { key.append(Assignment(column: link.column, value: root[link.rootColumn])) }
        }
        let all = key + assignments
        let execution = try write(SectionSQL(section, dialect).insert(all), all, nil, edit, step)
        let parts = (0..<section.keyCount).map { column in
            all.first { $0.column == column }?.value ?? .integer(execution.generatedKey)
        }
        let made = RecordKey(parts)
        if !step.edit.resource.isAtomic {
            let key = zip(0..., parts).map { Assignment(column: $0, value: $1) }
            inverses.append(SectionSQL(section, dialect).delete(key: key))
        }
        if let temporary = edit.id?.temporary {
            created[temporary] = made
            reports[step.index].ids.append(IDMapping(temporary: temporary, key: made, section: edit.section))
        }
        return made
    }

    private func address(of row: [Value], in section: Section) -> [Assignment] {
        let columns = section.keyCount > 0 ? Array(0..<section.keyCount) : section.parent.map(\.column)
        return columns.map { Assignment(column: $0, value: row[$0]) }
    }

    private func update(
        _ assignments: [Assignment], _ section: Section, _ row: [Value], _ edit: RowEdit, _ step: PushPlan.Step
    ) throws {
        let statement = SectionSQL(section, dialect).update(assignments, key: address(of: row, in: section))
        _ = try write(statement, assignments, row, edit, step)
        if !step.edit.resource.isAtomic {
            let before = assignments.map { Assignment(column: $0.column, value: row[$0.column]) }
            inverses.append(SectionSQL(section, dialect).update(before, key: address(of: row, in: section)))
        }
    }

    /// Deletes a row, and notes beside its outcome what the database takes along.
    private func delete(
        _ row: [Value], _ section: Section, _ edit: RowEdit, _ step: PushPlan.Step, outcome: Int
    ) throws {
        if served.schema.dependents[section.table] != nil {
            reports[step.index].outcomes[outcome].cascades = try CascadeFinder(
                schema: served.schema, session: session, dialect: dialect
            ).victims(of: row, section.columns, in: section.table)
        }
        _ = try write(
            SectionSQL(section, dialect).delete(key: address(of: row, in: section)), [], row, edit, step)
        if !step.edit.resource.isAtomic {
            let whole = zip(0..., zip(section.columns, row)).filter { $1.0.type != .wellKnownText }
            inverses.append(
                SectionSQL(section, dialect).insert(whole.map { Assignment(column: $0, value: $1.1) }))
        }
    }

    /// Deletes a record with the rows of its other sections, the last section first, as those may hang on the others.
    private func deleteRecord(_ root: [Value], _ edit: RowEdit, _ step: PushPlan.Step) throws {
        let resource = step.edit.resource
        let own = reports[step.index].outcomes.count - 1
        reports[step.index].outcomes[own].deletedRow = root
        for index in resource.sections.indices.dropFirst().reversed() {
            let section = resource.sections[index]
            for row in try reader(for: section).rows(of: section, in: root, locking: true) {
                var outcome = Outcome(
                    .deleted, section: index, item: section.kind == .list ? section.key(of: row) : nil)
                outcome.deletedRow = row
                reports[step.index].outcomes.append(outcome)
                try delete(row, section, edit, step, outcome: reports[step.index].outcomes.count - 1)
            }
        }
        try delete(root, resource.root, edit, step, outcome: own)
    }

    /// Undoes by hand what the database does not undo.
    private func takeBack(to mark: Int) throws(StoreError) {
        while inverses.count > mark {
            do {
                _ = try session.execute(inverses.removeLast())
            } catch {
                throw StoreError(
                    .unknownOutcome, "a write to a table without transactions could not be taken back: \(error)",
                    code: error.code)
            }
        }
    }

    private func write(
        _ statement: Statement, _ assignments: [Assignment], _ row: [Value]?, _ edit: RowEdit, _ step: PushPlan.Step
    ) throws -> Execution {
        do {
            return try session.execute(statement)
        } catch {
            guard case .constraint(let violation) = error.kind else { throw error }
            let explainer = ConstraintExplainer(
                resource: step.edit.resource, section: edit.section, served: served, session: session,
                dialect: dialect)
            throw try explainer.refusal(violation, assignments: assignments, row: row, path: edit.path, error: error)
        }
    }
}

/// A write that the database refused, explained to the client.
struct Refusal: Error {
    let problem: Problem
}

extension RowAction {
    /// The action with temporary ids replaced by the keys known so far.
    func resolved(_ ids: (TemporaryID) -> Value?) -> RowAction {
        switch self {
        case .create(let new): .create(new.resolved(ids))
        case .edit(let groups):
            .edit(
                groups.map { edit in
                    var base = edit.base
                    if case .values(let fields) = base { base = .values(fields.resolved(ids)) }
                    return GroupEdit(
                        group: edit.group, base: base, edited: edit.edited.resolved(ids), path: edit.path,
                        isRowForm: edit.isRowForm)
                })
        case .delete(let groups):
            .delete(groups.map { GroupBase(group: $0.group, base: $0.base.resolved(ids)) })
        }
    }
}
