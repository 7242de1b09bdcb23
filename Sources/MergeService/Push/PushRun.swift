import MergeCore
import RecordStore

/// One run of a push inside its transaction: lock and read, decide, write, read again.
///
/// It lives as long as the transaction's closure, which may run again from the start; so nothing outlives it.
final class PushRun {
    let session: any StoreSession
    let dialect: Dialect
    let plan: PushPlan
    let served: Served
    let limits: MergeLimits
    let digest: GroupDigest
    /// nil where nothing is kept.
    let journal: Journal?
    var reports: [EditReport]
    /// The keys of the rows created so far.
    var created: [TemporaryID: RecordKey] = [:]
    /// Statements that take back the writes to tables that do not do so by themselves, the last first.
    var inverses: [Statement] = []
    /// The rows that the rules' checks have to look at once everything is written.
    var written = WrittenRows()
    /// Updates that wait to be written together.
    var updates = PendingUpdates()
    /// The way in which the push is written: many rows at once, or edit by edit.
    let mode: WriteMode
    /// Several pushes share the transaction: none may do what the others would have to pay for.
    let isShared: Bool
    /// The rows that were locked and read.
    var context = RowContext()
    /// Columns were written that foreign keys refer to.
    var writesReferenced = false
    /// The edit whose rows were read again last.
    var reloaded: Int?
    /// The writes since.
    var changes = RowChanges()
    /// Columns of rows that sections of different resources show, by the section through which they were written.
    var sharedWrites: [RowReference: [SectionID: Set<String>]] = [:]
    /// Rows that were inserted under keys of the database's own making, by the name that the client gave them.
    var inserted: [InsertedRow: TemporaryID?] = [:]
    /// Rows that the push deleted, which it may create again under their keys.
    var deleted: Set<RowReference> = []
    /// Every edit names a record of one and the same resource by its key, and no two the same record; none creates its
    /// record, which may turn out to be the one that another names.
    private(set) var namesEachOnce = false
    /// Whose each edit is, where pushes share the transaction.
    var owners: [Int] = []

    /// Names a row that a push inserted, which edits through other sections over its table may mean as well.
    struct InsertedRow: Hashable {
        let table: TableName
        let key: RecordKey
    }

    init(
        _ plan: PushPlan, _ served: Served, session: any StoreSession, dialect: Dialect, limits: MergeLimits,
        digest: @escaping GroupDigest, journal: Journal?, mode: WriteMode,
        isShared: Bool = false
    ) {
        self.plan = plan
        self.served = served
        self.session = session
        self.dialect = dialect
        self.limits = limits
        self.digest = digest
        self.journal = journal
        self.mode = mode
        self.isShared = isShared
        reports = plan.push.edits.map(EditReport.init)
    }

    /// - Parameters:
    ///   - answer: makes the answer of the reports and the records that stand in the end; it may be asked twice.
    ///   - keep: what remains to be done in the transaction.
    func run(
        answer: ([EditReport], [Record?]) -> KeptPush, keep: (KeptPush) throws(StoreError) -> Void
    ) throws(StoreError) -> Ending<PushAttempt> {
        do {
            try lockRoots()
            var made: KeptPush?
            switch plan.push.atomicity {
            case .push: made = try runTogether { answer(reports, $0) }
            case .edit: try runEachAlone(checkingEach: true)
            }
            let stands =
                plan.push.atomicity == .push
                ? reports.indices.allSatisfy { reports[$0].isMerged }
                : reports.isEmpty || reports.contains(where: \.isMerged)
            guard stands else {
                try takeBack(to: 0)
                for index in reports.indices { reports[index].rollBack(inserted, of: plan.push.edits[index]) }
                return .rollback(PushAttempt(reports: reports))
            }
            let kept = try made ?? readAgain { answer(reports, $0) }
            try kept.answer.checkLength(limits)
            try keep(kept)
            return .commit(PushAttempt(reports: reports, answer: kept.answer))
        } catch let error as StoreError {
            try takeBack(to: 0)
            throw error
        } catch let fault as Problem {
            try takeBack(to: 0)
            return .rollback(PushAttempt(reports: reports, fault: fault))
        } catch let difference as WriteProof.Difference {
            try takeBack(to: 0)
            for index in reports.indices { reports[index].rollBack(inserted, of: plan.push.edits[index]) }
            reports[difference.edit].problem = difference.problem(plan.push.edits[difference.edit])
            return .rollback(PushAttempt(reports: reports, difference: difference))
        } catch {
            throw StoreError(.other, "a push ended with an unknown error")
        }
    }

    /// Reads the records as they stand, and makes the answer of them.
    func readAgain<Answer>(_ answer: ([Record?]) -> Answer) throws -> Answer {
        let records = try RecordCollector(session, dialect, limits).records(of: reports)
        try prove(records)
        return answer(records)
    }

    /// A deletion may change what other edits wrote (ON DELETE SET NULL), and so may a new value of what others refer to
    /// (ON UPDATE CASCADE), so only pushes without them are proved.
    ///
    /// - Throws: `WriteProof.Difference`.
    func prove(_ records: [Record?]) throws(WriteProof.Difference) {
        let deletes = reports.indices.contains { reports[$0].deletes }
        let proof = WriteProof(served.schema)
        guard !deletes, !writesReferenced, proof.applies(to: plan.resources, dialect: dialect) else { return }
        if namesEachOnce {
            for index in reports.indices {
                let meant = reports[index].meant.map { (edit: index, write: $0) }
                reports[index].meant = []
                try proof.check(meant, records[index], reports[index].resource)
            }
            return
        }
        var later: Set<WrittenColumn> = []
        for step in plan.steps.reversed() {
            let resource = step.edit.resource
            let record = records[step.index]
            let meant = reports[step.index].meant.reversed().map { write in
                let section = resource.sections[write.section]
                let row = reference(to: write, of: reports[step.index], in: section)
                // Of two writes to one column the later one counts, through whichever resource it came.
                let last = write.keeping { column in
                    later.insert(WrittenColumn(row: row, name: section.columns[column].name)).inserted
                }
                return (edit: step.index, write: last)
            }
            reports[step.index].meant = []
            try proof.check(meant, record, resource)
        }
    }

    private func reference(
        to write: WriteProof.Meant, of report: EditReport, in section: Section
    ) -> RowReference {
        served.footprints[section].reference(to: write.item ?? report.key ?? RecordKey([]))
    }

    /// One column of a row.
    private struct WrittenColumn: Hashable {
        let row: RowReference
        let name: String
    }

    // MARK: Order

    /// Locks every root that is known beforehand, in one order for all pushes, so that they do not wait in a circle.
    func lockRoots() throws {
        // Two resources over one table may see it differently, so each has rows of its own.
        var roots = plan.resources.map { resource in
            (
                name: resource.root.table.description + " " + resource.name, resource: resource,
                keys: RecordKey.ordered(
                    plan.steps.compactMap { $0.edit.resource === resource ? $0.edit.id.key : nil })
            )
        }
        namesEachOnce =
            roots.count == 1 && roots[0].keys.count == plan.steps.count
            && plan.steps.allSatisfy { !$0.edit.createsRecord }
        roots.removeAll { $0.keys.isEmpty }
        guard roots.count > 1 || (roots.first?.keys.count ?? 0) > 1 else { return }
        for (_, resource, keys) in roots.sorted(by: { $0.name < $1.name }) {
            try read(keys, of: resource.root, as: SectionID(resource: resource.name, section: 0))
        }
    }

    /// - Returns: the answer of the records as they stand then; nil where an edit was refused.
    func runTogether<Answer>(_ answer: ([Record?]) -> Answer) throws -> Answer? {
        guard mode.writesTogether || plan.steps.count == 1 else { return try runBehindSavepoints(answer) }
        let waves = waves()
        for (number, wave) in waves.enumerated() {
            let isSound = try noting {
                try load(wave)
                for step in wave {
                    try apply(step)
                    if !reports[step.index].isMerged { return }
                }
                // What the last ones write goes with what follows.
                if number < waves.count - 1 { try flush() }
            }
            if isSound, wave.allSatisfy({ reports[$0.index].isMerged }) { continue }
            if plan.steps.count == 1 { return nil }
            // What the other edits would have come to is told by a run in which each leaves nothing if it is refused.
            throw mode.oneByOne()
        }
        return try finished(answer)
    }

    /// Writes and checks what is left, and makes the answer; nil where something is refused.
    private func finished<Answer>(_ answer: ([Record?]) -> Answer) throws -> Answer? {
        var made: Answer?
        guard try noting({ made = try finish(answer) }) else { return nil }
        return made
    }

    /// Runs every edit behind a savepoint, also those behind one that is refused, so that the client is told all that
    /// its edits would have met.
    private func runBehindSavepoints<Answer>(_ answer: ([Record?]) -> Answer) throws -> Answer? {
        try runEachAlone(checkingEach: false)
        if reports.allSatisfy(\.isMerged) { return try finished(answer) }
        // Groups that the checks would have taken back are conflicts as well; what they would have refused comes second.
        let problems = reports.map(\.problem)
        _ = try noting { while try takeBackFailures() {} }
        for index in reports.indices { reports[index].problem = problems[index] }
        return nil
    }

    /// Runs `body`, and notes what it refuses beside the edit that it belongs to.
    ///
    /// - Returns: true where nothing was refused.
    private func noting(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return true
        } catch let failure as CheckFailure {
            reports[failure.report].problem = failure.problem
            return false
        }
    }

    /// Runs of edits that touch different records, and so can be read at once.
    func waves() -> [[PushPlan.Step]] {
        if namesEachOnce, plan.steps.allSatisfy({ $0.needs.isEmpty }) { return [plan.steps] }
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

    /// Runs edit by edit; nothing of one that is refused stays, and none runs that needs a row of it.
    ///
    /// - Parameter checkingEach: runs the checks behind every edit, not behind all.
    func runEachAlone(checkingEach: Bool) throws {
        // Engines without transactions know no savepoints either (Aria: error 1178), and what they take back by hand
        // would leave the others behind.
        let hasSavepoints = plan.push.edits.allSatisfy(\.resource.isAtomic)
        guard !checkingEach || hasSavepoints || !plan.push.edits.contains(where: \.resource.isAtomic) else {
            throw Problem(
                status: 400, code: "invalid", title: "Resources that do not go together",
                detail: "A push of atomic: edit cannot mix resources with and without transactions; send two.",
                path: WirePath("atomic"))
        }
        var left: Set<Int> = []
        for step in plan.steps {
            if let problem = mode.refusal(of: step.index) {
                left.insert(step.index)
                reports[step.index].problem = problem
                continue
            }
            if let needed = step.needs.sorted().first(where: { left.contains($0) }) {
                left.insert(step.index)
                if checkingEach { reports[step.index].problem = Self.dependsOnRefused(needed, step) }
                continue
            }
            if hasSavepoints { try session.setSavepoint() }
            let mark = inverses.count
            let before = (written, sharedWrites, inserted)
            if checkingEach { written = WrittenRows() }
            try load([step])
            try apply(step)
            if reports[step.index].isMerged {
                _ = try noting {
                    try flush()
                    if checkingEach { try runChecks() }
                }
            }
            if reports[step.index].isMerged {
                if hasSavepoints { try session.releaseSavepoint() }
                continue
            }
            left.insert(step.index)
            updates = PendingUpdates()
            let gone = inserted.filter { before.2[$0.key] == nil }
            (written, sharedWrites, inserted) = before
            changes.noteEverything()
            try takeBack(to: mark)
            if hasSavepoints {
                try session.rollBackToSavepoint()
                try session.releaseSavepoint()
            }
            for mapping in reports[step.index].ids { created[mapping.temporary] = nil }
            reports[step.index].rollBack(gone, of: step.edit)
        }
    }

    private static func dependsOnRefused(_ needed: Int, _ step: PushPlan.Step) -> Problem {
        Problem(
            status: 422, code: "depends-on-refused", title: "A row that this edit refers to was not created",
            detail: "edits[\(needed)], which would have created it, was refused.", path: step.edit.path, retry: false)
    }
}

/// A write that the database refused, explained to the client.
struct Refusal: Error {
    let problem: Problem
}

extension RowAction {
    /// The action with temporary ids replaced by the keys known so far.
    func resolved(_ ids: (TemporaryID) -> Value?) -> RowAction {
        guard hasPending else { return self }
        switch self {
        case .create(let new): return .create(new.resolved(ids))
        case .edit(let groups):
            return .edit(
                groups.map { edit in
                    var base = edit.base
                    if case .values(let fields) = base { base = .values(fields.resolved(ids)) }
                    return GroupEdit(
                        group: edit.group, base: base, edited: edit.edited.resolved(ids), path: edit.path,
                        isRowForm: edit.isRowForm)
                })
        case .delete(let groups):
            return .delete(groups.map { GroupBase(group: $0.group, base: $0.base.resolved(ids)) })
        }
    }

    /// True where a temporary id stands in place of a value.
    private var hasPending: Bool {
        switch self {
        case .create(let new): return !new.pending.isEmpty
        case .edit(let groups):
            return groups.contains { edit in
                if case .values(let base) = edit.base, !base.pending.isEmpty { return true }
                return !edit.edited.pending.isEmpty
            }
        case .delete(let groups): return groups.contains { !$0.base.pending.isEmpty }
        }
    }
}
