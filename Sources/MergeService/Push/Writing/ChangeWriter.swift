import MergeCore
import RecordStore

/// Writes the decided changes: the only part of a run that writes rows.
///
/// Its state is a value, so a savepoint is a copy.
struct ChangeWriter {
    private let run: RunEnvironment
    /// The writes so far, with their logical times.
    private(set) var changes = RowChanges()
    private(set) var updates = PendingUpdates()
    /// Compensations for writes to tables without transactions; the last runs first.
    private var compensations: [Statement] = []
    var keys = CreatedKeys()
    /// Rows with keys that the database generated, with the client's temporary id if it sent one.
    private(set) var inserted: [RowName: TemporaryID?] = [:]
    /// Deleted rows, which the push may create again under their keys.
    private var deleted: Set<RowName> = []
    /// The highest last key part of deleted rows, by the other parts.
    private var deletedNumbers: [RowName: Int128] = [:]
    /// True if the transaction is as it was at the savepoint of the edit.
    private var isAtSavepoint = false

    init(_ run: RunEnvironment) {
        self.run = run
    }

    func hasDeleted(_ row: RowName) -> Bool { deleted.contains(row) }

    /// Returns the highest last key part of deleted rows with the same other parts; 0 if there is none.
    func deletedNumber(in footprint: Footprint, within others: [Value]) -> Int128 {
        deletedNumbers[footprint.name(of: RecordKey(others))] ?? 0
    }

    // MARK: Rows

    /// Inserts a row.
    ///
    /// - Parameters:
    ///   - assignments: the columns with values, including known columns of the key.
    ///   - extras: further columns of a restored row, which the rules need not name.
    /// - Returns: the row's key, as far as it is available without another read.
    mutating func insert(_ assignments: [Assignment], extras: [RawValue], as row: EditedRow) throws(PushStop)
        -> RecordKey
    {
        let (section, edit) = (row.section, row.edit)
        let sql = run.sql(section)
        let execution = try execute(sql.insert(assignments, extras: extras), of: row, setting: assignments)
        let key = RecordKey(
            (0..<section.keyCount).map { column in
                assignments.first { $0.column == column }?.value ?? .integer(execution.generatedKey)
            })
        if !row.resource.isAtomic {
            compensations.append(sql.delete(key: zip(0..., key.parts).map { Assignment(column: $0, value: $1) }))
        }
        let footprint = run.footprint(section)
        // The database may store another spelling of the key.
        changes.note(footprint.reference(to: key), key.hasText ? .everything : footprint.reach, moves: true)
        if edit.id?.key == nil {
            inserted[footprint.name(of: key)] = .some(edit.id?.temporary)
        }
        if let temporary = edit.id?.temporary { keys.name(temporary, key) }
        return key
    }

    /// Reverses the soft deletion of a row.
    mutating func unhide(
        _ hidden: [Value], setting values: [RawValue], stamps: [Assignment], hiding set: [SQLAssignment],
        of row: EditedRow
    ) throws(PushStop) {
        let section = row.section
        let address = section.address(of: hidden)
        let named = address.map { RawValue(column: section.columns[$0.column], value: $0.value) }
        changes.note(run.footprint(section).reference(to: section.key(of: hidden)), .everything, moves: true)
        let stamped = stamps.map { RawValue(column: section.columns[$0.column], value: $0.value) }
        try execute(
            RawSQL(run.dialect).update(section.table, values + stamped, where: named), of: row, current: hidden)
        if row.resource.isAtomic { return }
        let before = stamps.map { Assignment(column: $0.column, value: hidden[$0.column]) }
        compensations.append(run.sql(section).softDelete(set, stamps: before, key: address))
    }

    /// Updates a row, at once or later in a common statement.
    mutating func update(_ assignments: [Assignment], of row: EditedRow, current: [Value]) throws(PushStop) {
        let section = row.section
        let key = section.address(of: current)
        let footprint = run.footprint(section)
        let reach = footprint.reach(of: assignments)
        let last = record(reach, of: assignments, at: key, in: section, footprint)
        if run.mode.writesTogether, row.resource.isAtomic {
            let isUnique = footprint.writesUnique(assignments)
            let owner = run.batch.owners[row.index]
            if updates.mustGoBefore(last, in: footprint.table, isUnique: isUnique, owner: owner) { try flush() }
            let update = PendingUpdates.Update(
                row: row, change: SectionSQL.Change(key: key, assignments: assignments), current: current)
            updates.add(
                update, at: changes.now, in: footprint.table, reaching: reach, isUnique: isUnique, owner: owner)
            return
        }
        let sql = run.sql(section)
        try execute(sql.update(assignments, key: key), of: row, setting: assignments, current: current)
        if !row.resource.isAtomic {
            let before = assignments.map { Assignment(column: $0.column, value: current[$0.column]) }
            compensations.append(sql.update(before, key: key))
        }
    }

    /// Records the reach of an update.
    ///
    /// - Returns: the time of the row's previous change; nil if there was none.
    private mutating func record(
        _ reach: Footprint.Reach, of assignments: [Assignment], at key: [Assignment], in section: Section,
        _ footprint: Footprint
    ) -> Int? {
        if run.isNamedOnce(section), !footprint.isCheckedElsewhere {
            changes.note(inTable: footprint.table, reach)
            return nil
        }
        let reference = footprint.reference(to: RecordKey(key.map(\.value)))
        return changes.note(reference, reach, moves: footprint.writesSearched(assignments))
    }

    /// Records that a row is about to be deleted.
    ///
    /// - Parameter names: the row's names under all keys of its table.
    mutating func recordDeletion(of address: [Assignment], in section: Section, names: [RowName]) {
        let footprint = run.footprint(section)
        let reference = footprint.reference(to: RecordKey(address.map(\.value)))
        changes.note(
            reference, section.softDelete == nil ? footprint.deletionReach : footprint.reach, moves: true)
        deleted.formUnion(names)
        for name in names where name.key.parts.count > 1 {
            guard case .integer(let number)? = name.key.parts.last else { continue }
            let others = RowName(
                table: name.table, columns: name.columns, key: RecordKey(Array(name.key.parts.dropLast())))
            deletedNumbers[others] = max(number, deletedNumbers[others] ?? 0)
        }
    }

    /// Deletes rows, softly if the rules say so.
    ///
    /// - Parameter mostRows: the number of rows with the address: one, unless the section has no key.
    mutating func delete(
        _ current: [Value], in section: Section, stamps: [Assignment], mostRows: Int, of row: EditedRow
    ) throws(PushStop) {
        let sql = run.sql(section)
        let address = section.address(of: current)
        if let set = section.softDelete?.value {
            try execute(
                sql.softDelete(set, stamps: stamps, key: address, mostRows: mostRows), of: row, current: current)
            if row.resource.isAtomic { return }
            let columns =
                set.compactMap { assignment in section.columns.firstIndex { $0.name == assignment.column } }
                + stamps.map(\.column)
            let before = columns.map { Assignment(column: $0, value: current[$0]) }
            compensations.append(sql.update(before, key: address))
            return
        }
        try execute(sql.delete(key: address, mostRows: mostRows), of: row, current: current)
        if row.resource.isAtomic { return }
        let whole = zip(0..., zip(section.columns, current)).filter { _, part in
            part.0.type != .wellKnownText && part.0.lookup == nil
        }
        compensations.append(sql.insert(whole.map { Assignment(column: $0, value: $1.1) }))
    }

    /// Writes a row of another table that a write of the push had changed along; any row may change with it.
    mutating func restoreRow(by statement: Statement) throws(StoreError) {
        changes.recordEverything()
        isAtSavepoint = false
        _ = try run.session.execute(statement)
    }

    // MARK: Waiting updates

    /// Writes the waiting updates.
    ///
    /// - Throws: a refusal if a single update is refused; `RunAgain` in a shared transaction, because a push that is
    ///   refused later could no longer be left out.
    mutating func flush() throws(PushStop) {
        if updates.isEmpty { return }
        if run.batch.isShared { throw .again(.alone) }
        try writePending()
    }

    /// Writes the waiting updates unless pushes share the transaction: they have no row in common.
    mutating func flushUnlessShared() throws(PushStop) {
        if !run.batch.isShared { try flush() }
    }

    /// Writes the waiting updates, also in a shared transaction from which no push is left out any more.
    mutating func writePending() throws(PushStop) {
        if updates.isEmpty { return }
        if let only = updates.only {
            updates = PendingUpdates()
            try execute(statement(only), of: only.row, setting: only.change.assignments, current: only.current)
            return
        }
        let sent = sendUpdates()
        try together { () throws(StoreError) in try receive(sent) }
    }

    /// Writes the waiting updates and reads in one round trip.
    mutating func writePending<Asked, Answer>(
        andSend send: () -> Asked, receive answer: (Asked) throws(StoreError) -> Answer
    ) throws(PushStop) -> Answer {
        let sent = sendUpdates()
        let asked = send()
        return try together { () throws(StoreError) in
            try receive(sent)
            return try answer(asked)
        }
    }

    /// Forgets the waiting updates of steps.
    mutating func drop(_ isDropped: (PushPlan.Step) -> Bool) { updates.drop(isDropped) }

    private mutating func sendUpdates() -> [Ticket] {
        defer { updates = PendingUpdates() }
        isAtSavepoint = false
        return updates.batches.compactMap { batch in
            guard let first = batch.first else { return nil }
            guard batch.count > 1 else { return run.session.send(statement(first)) }
            return run.sql(first.row.section).update(batch.map(\.change)).map { run.session.send($0) }
        }
    }

    /// Receives the answers to all writes, also after a refusal.
    private func receive(_ writes: [Ticket]) throws(StoreError) {
        var refusal: StoreError?
        for ticket in writes {
            do throws(StoreError) {
                _ = try run.session.receive(ticket)
            } catch {
                refusal = refusal ?? error
            }
        }
        if let refusal { throw refusal }
    }

    private func statement(_ update: PendingUpdates.Update) -> Statement {
        run.sql(update.row.section).update(update.change.assignments, key: update.change.key)
    }

    /// After a refusal, the next run writes the rows one by one to find the refused row.
    private func together<Answer>(_ body: () throws(StoreError) -> Answer) throws(PushStop) -> Answer {
        do throws(StoreError) {
            return try body()
        } catch {
            if error.refusal != nil, run.mode.writesTogether { throw .again(.editByEdit) }
            guard case .constraint = error.kind else { throw .store(error) }
            throw .again(.editByEdit)
        }
    }

    // MARK: Savepoints

    /// Sets the savepoint of an edit; does nothing for engines without transactions.
    mutating func setSavepoint() throws(StoreError) {
        guard run.hasSavepoints else { return }
        try run.session.set(.edit)
        isAtSavepoint = true
    }

    /// Undoes all writes since the savepoint of the edit, and returns to the copy that was made there.
    ///
    /// Rows that were read since then are not current any more.
    mutating func rollBack(to saved: ChangeWriter) throws(StoreError) {
        try compensate(to: saved.compensations.count)
        if run.hasSavepoints { try run.session.rollBack(to: .edit) }
        let changes = changes
        self = saved
        self.changes = changes
        self.changes.recordEverything()
    }

    mutating func releaseSavepoint() throws(StoreError) {
        guard run.hasSavepoints else { return }
        try run.session.release(.edit)
        isAtSavepoint = false
    }

    /// Runs all compensations.
    mutating func compensate() throws(StoreError) { try compensate(to: 0) }

    private mutating func compensate(to mark: Int) throws(StoreError) {
        while compensations.count > mark {
            do {
                _ = try run.session.execute(compensations.removeLast())
            } catch {
                throw StoreError(
                    .unknownOutcome, "a write to a table without transactions could not be undone: \(error)",
                    code: error.code)
            }
        }
    }

    // MARK: Statements

    /// Runs a statement that writes a row.
    ///
    /// No statement follows a refused one without a rollback to a savepoint. So a run without savepoints ends here, and
    /// the next run sets them.
    ///
    /// - Parameters:
    ///   - assignments: the columns that it sets.
    ///   - current: the row before the write; nil for an insertion.
    /// - Throws: the refusal of the row's edit for a violated constraint; `RunAgain`; `StoreError`.
    @discardableResult
    private mutating func execute(
        _ statement: Statement, of row: EditedRow, setting assignments: [Assignment] = [], current: [Value]? = nil
    ) throws(PushStop) -> Execution {
        do {
            return try executeInSavepoint(statement)
        } catch {
            let problem = error.refusal(of: row.edit.path)
            if problem == nil, !error.isConstraint { throw .store(error) }
            if run.hasSavepoints, !run.isEditByEdit { throw .again(.editByEdit) }
            if let problem { throw .refused(row.index, problem) }
            guard case .constraint(let violation) = error.kind else { throw .store(error) }
            throw try ConstraintExplainer(row: row, run: run)
                .refusal(violation, assignments: assignments, current: current)
        }
    }

    /// Runs a statement; if edits run one by one, a refusal undoes the statement alone.
    private mutating func executeInSavepoint(_ statement: Statement) throws(StoreError) -> Execution {
        guard run.hasSavepoints, run.isEditByEdit else { return try run.session.execute(statement) }
        // The first write of an edit has its savepoint already.
        let savepoint = isAtSavepoint ? Savepoint.edit : .statement
        if !isAtSavepoint { try run.session.set(.statement) }
        do throws(StoreError) {
            let execution = try run.session.execute(statement)
            isAtSavepoint = false
            return execution
        } catch {
            if error.isConstraint || error.refusal != nil { try run.session.rollBack(to: savepoint) }
            throw error
        }
    }
}

extension Section {
    /// Returns the columns by which a row is found, with their values.
    func address(of row: [Value]) -> [Assignment] {
        addressPositions.map { Assignment(column: $0, value: row[$0]) }
    }
}
