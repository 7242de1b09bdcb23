import MergeCore
import RecordStore

/// The unchangeable environment of one run of a push's transaction.
///
/// It is an object, because each stage of the run has it.
final class RunEnvironment {
    let batch: PushBatch
    let mode: RunMode
    let session: any StoreSession
    let dialect: any Dialect
    let limits: MergeLimits
    let digest: GroupDigest
    /// The time of the run, for stamps.
    let time: DateTime?
    /// True if the run waits for locks; otherwise a lock of another transaction ends the run at once.
    let waits: Bool
    /// True if the journal records the pushes and the records that they change; false for a preview.
    let isKept: Bool
    /// The rights of the edits' clients, parallel to the edits; empty without access rules.
    let views: [ResourceView?]
    /// The records that the push names by key, by resource, in the order in which they are locked.
    let roots: [Roots]
    /// True if all edits name different records of one resource by key and none creates a record.
    let namesEachOnce: Bool
    /// True if in addition no other section of the resource can contain a row of the root's table.
    let rootIsNamedOnce: Bool

    struct Roots {
        let resource: Resource
        let keys: [RecordKey]
    }

    init(_ batch: PushBatch, _ merging: PushMerging, session: any StoreSession, mode: RunMode, waits: Bool) {
        self.batch = batch
        self.mode = mode
        self.session = session
        dialect = merging.engine.dialect
        limits = merging.limits
        digest = merging.digest
        time = merging.clock()
        self.waits = waits
        isKept = batch.journal != nil
        views = Self.views(of: batch)
        let plan = batch.plan
        let roots = Self.roots(of: plan, without: mode.refusals)
        namesEachOnce =
            roots.count == 1 && roots[0].keys.count == plan.steps.count
            && plan.steps.allSatisfy { !$0.edit.createsRecord }
        rootIsNamedOnce =
            namesEachOnce && plan.steps[0].edit.resource.rootHasItsTableAlone(batch.active.footprints)
        self.roots = roots
    }

    var active: ActiveRules { batch.active }
    /// The source of the last known values of deleted rows; nil if the journal is off.
    var journal: Journal? { batch.active.journal }
    var plan: PushPlan { batch.plan }

    /// True if the edits of the push succeed or fail independently (`atomic: edit`).
    var isEachForItself: Bool { plan.push.atomicity == .edit }

    /// True if edits run one by one, each in a savepoint, so that the next edit runs after a refusal.
    var isEditByEdit: Bool { mode.isEditByEdit || isEachForItself }
    /// False for engines without transactions, which have no savepoints either (Aria: error 1178).
    var hasSavepoints: Bool { plan.push.edits.allSatisfy(\.resource.isAtomic) }

    var reader: RecordReader {
        RecordReader(
            resource: plan.steps[0].edit.resource, session: session, dialect: dialect,
            rowsPerRecord: limits.rowsPerRecord, waits: waits)
    }

    func sql(_ section: Section) -> SectionSQL { SectionSQL.of(section, dialect) }

    func footprint(_ section: Section) -> Footprint { active.footprints[section] }

    /// Returns true for a root that no two edits of the batch can share.
    func isNamedOnce(_ section: Section) -> Bool { rootIsNamedOnce && section.kind == .root }

    /// Returns the rights of an edit's client on its resource; nil without access rules.
    func view(of edit: Int) -> ResourceView? { views.isEmpty ? nil : views[edit] }

    /// Returns the client of an edit; nil without access rules.
    func viewer(of edit: Int) -> Viewer? { batch.items[batch.owners[edit]].request.access?.viewer }

    /// Returns the rows of a SELECT.
    func query(_ statement: Statement) throws(PushStop) -> [[Value]] {
        do throws(StoreError) {
            return try session.query(statement)
        } catch {
            throw .store(error)
        }
    }

    /// Returns the rows whose columns contain one of the tuples, as `RecordReader` reads them.
    func rows(
        of section: Section, where columns: [Int], in tuples: [[Value]], locking: Bool = true,
        includesHidden: Bool = false, includesEquated: Bool = false
    ) throws(PushStop) -> [[Value]] {
        var reader = reader
        // A decision on access conditions holds until the transaction ends.
        reader.sharesReferred = locking && active.views.decidesByReferredRows(section)
        return try reading { [reader] () throws(StoreError) in
            try reader.rows(
                of: section, where: columns, in: tuples, locking: locking, includesHidden: includesHidden,
                includesEquated: includesEquated)
        }
    }

    /// Runs a function of the store, whose error ends the run.
    func reading<Answer>(_ body: () throws(StoreError) -> Answer) throws(PushStop) -> Answer {
        do throws(StoreError) {
            return try body()
        } catch {
            throw .store(error)
        }
    }

    private static func views(of batch: PushBatch) -> [ResourceView?] {
        guard batch.items.contains(where: { $0.request.access != nil }) else { return [] }
        return batch.plan.push.edits.enumerated().map { index, edit in
            batch.items[batch.owners[index]].request.access?.viewer.view(of: edit.resource)
        }
    }

    /// Two resources of one table may have different columns and conditions, so each has its own keys.
    private static func roots(of plan: PushPlan, without refused: [Int: Problem]) -> [Roots] {
        plan.resources.map { resource in
            let keys = plan.steps.compactMap { step in
                step.edit.resource === resource && refused[step.index] == nil ? step.edit.id.key : nil
            }
            return (
                name: resource.root.table.description + " " + resource.name,
                roots: Roots(resource: resource, keys: RecordKey.ordered(keys))
            )
        }.sorted { $0.name < $1.name }.map(\.roots)
    }
}

extension Resource {
    fileprivate func rootHasItsTableAlone(_ footprints: Footprints) -> Bool {
        let table = footprints[root].table
        return sections.dropFirst().allSatisfy { footprints[$0].table != table }
    }
}
