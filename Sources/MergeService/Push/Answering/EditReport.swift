import MergeCore
import RecordStore

/// Facts about one edit, collected while its push runs.
struct EditReport: Sendable {
    let resource: Resource
    let sent: RowLabel?
    /// nil until the key is final.
    var key: RecordKey?
    var outcomes: [Outcome] = []
    var ids: [IDMapping] = []
    var isRejected = false
    /// The roles that applied before the push and when the edit found the record; nil if it found none.
    var held: GrantSet?
    /// True if the record exists and is hidden from the client; its other rows are not read.
    var isHidden = false
    /// Sets of roles; one role of each set must apply to the final record.
    var needs: Set<GrantSet> = []
    /// The tested values of the record before the push; nil if it did not exist or no conditions test it.
    var conditions: ConditionTuple?
    var createsRecord = false
    /// The written items that a later edit moved to other records.
    var moved: [EntryRow: [Value]] = [:]
    var problem: Problem?

    init(_ edit: Edit, problem: Problem? = nil) {
        self.problem = problem
        resource = edit.resource
        sent = edit.id.temporary.map { .temporary($0) } ?? edit.id.key.map { .key($0) }
        key = edit.id.key
    }

    /// True unless a policy or the database has refused the edit.
    var isMerged: Bool { !isRejected && problem == nil }

    var inserts: Bool { outcomes.contains { $0.kind == .inserted || $0.kind == .restored } }

    /// Records that the deletion of the record deletes a row of a section.
    ///
    /// If the edit deletes the row too and `on-delete-conflict` kept it, that outcome becomes `deleted`.
    ///
    /// - Returns: the position of the row's outcome.
    mutating func recordDeletion(of row: [Value], in position: Int) -> Int {
        let section = resource.sections[position]
        let rule = section.softDelete?.rule ?? .default
        let key = section.kind == .list ? section.key(of: row) : nil
        let kept = outcomes.firstIndex { outcome in
            outcome.kind == .kept && outcome.section == position && outcome.item == key.map { .key($0) }
        }
        if let kept {
            outcomes[kept].kind = .deleted
            outcomes[kept].rule = rule
            outcomes[kept].sides = outcomes[kept].sides.map { $0.writing(.null) }
        } else {
            outcomes.append(Outcome(.deleted, section: position, item: key, rule: rule))
        }
        let index = kept ?? outcomes.count - 1
        outcomes[index].deletedRow = row
        return index
    }

    /// Refuses the edit; the first reason counts.
    mutating func refuse(_ problem: Problem) {
        if self.problem == nil { self.problem = problem }
    }

    /// Removes the effects that a rollback undid; conflicts stay for the answer.
    ///
    /// - Parameters:
    ///   - inserted: inserted rows that no longer exist; the report uses the client's names for them again.
    ///   - edit: the edit of the report.
    mutating func rollBack(_ inserted: [RowName: TemporaryID?], of edit: Edit) {
        ids = []
        needs = []
        createsRecord = false
        outcomes = outcomes.filter(\.isConflict)
        if inserted.isEmpty { return }
        if let place = problem?.rowInTheWay, place.rows.contains(where: { inserted[$0] != nil }) {
            problem?.rowInTheWay = nil
        }
        func name(_ key: RecordKey, _ section: Int) -> TemporaryID?? {
            let section = resource.sections[section]
            return inserted[RowName(key, in: section)]
        }
        // The database may have generated a number that the client also names, for a row that was then rolled back.
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

extension RowPlace {
    /// The names of the row and of its record's root; a singleton has no name.
    fileprivate var rows: [RowName] {
        let root = RowName(record, in: resource.root)
        guard let section, let item else { return [root] }
        let list = resource.sections[section]
        return [root, RowName(item, in: list)]
    }
}
