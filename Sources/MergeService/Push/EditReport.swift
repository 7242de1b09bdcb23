import MergeCore
import RecordStore

/// Facts about one edit, gathered while its push runs.
struct EditReport: Sendable {
    let resource: Resource
    /// The client's name of the record.
    let sent: RowLabel?
    /// The record's key, once it is settled.
    var key: RecordKey?
    var outcomes: [Outcome] = []
    var ids: [IDMapping] = []
    /// Values that were written, to be found again.
    var meant: [WriteProof.Meant] = []
    var isRejected = false
    /// The roles that held on the record before the push and when the edit found it; nil if it found none.
    var held: GrantSet?
    /// The record is there and does not exist for the client: nothing more of it is read.
    var isHidden = false
    /// Sets of roles of each of which one has to hold on the record in the end.
    var needs: Set<GrantSet> = []
    /// What conditions of access test in the record as it was before the push; nil if there was none, or no conditions.
    var conditions: ConditionTuple?
    /// The edit has created its record.
    var createsRecord = false
    var problem: Problem?

    init(_ edit: Edit, problem: Problem? = nil) {
        self.problem = problem
        resource = edit.resource
        sent = edit.id.temporary.map { .temporary($0) } ?? edit.id.key.map { .key($0) }
        key = edit.id.key
    }

    /// Neither refused by a policy nor by the database.
    var isMerged: Bool { !isRejected && problem == nil }

    var deletes: Bool { outcomes.indices.contains { outcomes[$0].kind == .deleted } }

    /// A row of the edit was inserted.
    var inserts: Bool { outcomes.contains { $0.kind == .inserted || $0.kind == .restored } }

    /// Notes why the database or the rules refuse the edit; the first reason counts.
    mutating func refuse(_ problem: Problem) {
        if self.problem == nil { self.problem = problem }
    }

    /// Forgets what was taken back, but for the conflicts, which the client is told all the same.
    ///
    /// - Parameters:
    ///   - inserted: rows that were inserted and are there no more; they go by the client's names again.
    ///   - edit: the edit that the report is of.
    mutating func rollBack(_ inserted: [RowName: TemporaryID?], of edit: Edit) {
        ids = []
        meant = []
        needs = []
        createsRecord = false
        outcomes = outcomes.filter(\.isConflict)
        if inserted.isEmpty { return }
        func name(_ key: RecordKey, _ section: Int) -> TemporaryID?? {
            let section = resource.sections[section]
            return inserted[RowName(table: section.table, key, in: section)]
        }
        // The database may have given the number of a row that the client names to a new one, and taken it back.
        let isSent = if case .key? = sent { true } else { false }
        if !isSent, let known = key, name(known, 0) != nil { key = nil }
        for index in outcomes.indices {
            let section = outcomes[index].section
            guard case .key(let key)? = outcomes[index].item, let name = name(key, section),
                !edit.rows.contains(where: { $0.section == section && $0.id?.key == key })
            else { continue }
            outcomes[index].item = name.map { .temporary($0) }
        }
    }
}
