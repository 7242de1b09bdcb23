import MergeCore
import RecordStore

extension PushTransaction {
    /// Inserts a row.
    ///
    /// - Parameters:
    ///   - root: the root row of the record that the row belongs to.
    ///   - extras: further columns of a restored row, which the rules need not name.
    /// - Returns: the row's key, as far as it is available without another read.
    func insert(
        _ assignments: [Assignment], as row: EditedRow, root: [Value]?, extras: RawRow? = nil
    ) throws -> RecordKey {
        try checkLink(of: row, to: root)
        if batch.isShared { throw NotShareable() }
        try flush()
        let (section, edit) = (row.section, row.edit)
        var key: [Assignment] = []
        for (column, part) in (edit.id?.parts ?? []).enumerated() {
            switch part {
            case .value(let value): key.append(Assignment(column: column, value: value))
            case .temporary(let id):
                if let value = reference(id) { key.append(Assignment(column: column, value: value)) }
            case .generated: break
            }
        }
        if let hidden = try unhide(row) { return hidden }
        for link in section.parent where !key.contains(where: { $0.column == link.column }) {
            if let root { key.append(Assignment(column: link.column, value: root[link.rootColumn])) }
        }
        let all = key + assignments
        let execution = try write(
            SectionSQL.of(section, dialect).insert(all, extras: (extras ?? edit.extras)?.values ?? []),
            of: row, setting: all)
        let parts = (0..<section.keyCount).map { column in
            all.first { $0.column == column }?.value ?? .integer(execution.generatedKey)
        }
        let made = RecordKey(parts)
        let footprint = active.footprints[section]
        // The database may store another spelling of the key.
        changes.note(footprint.reference(to: made), made.hasText ? .everything : footprint.reach)
        if active.views.hasGuards(section.table) || footprint.isCheckedElsewhere
            || !active.views.testedColumns(of: section.table).isEmpty
        {
            let known = zip(0..., parts).map { Assignment(column: $0, value: $1) }
            try noteFresh(known + all.filter { $0.column >= section.keyCount }, in: section)
        }
        if edit.id?.key == nil {
            inserted[RowName(table: section.table, made, in: section)] = .some(edit.id?.temporary)
        }
        if !row.resource.isAtomic {
            let key = zip(0..., parts).map { Assignment(column: $0, value: $1) }
            inverses.append(SectionSQL.of(section, dialect).delete(key: key))
        }
        mean(assignments, of: row) { made }
        noteInsertedRow(row, key: made, root: root)
        if let temporary = edit.id?.temporary {
            created[temporary] = made
            reports[row.index].ids.append(IDMapping(temporary: temporary, key: made, section: edit.section))
        }
        return made
    }

    /// Refuses an item or singleton if its record has NULL in the column that links them.
    private func checkLink(of row: EditedRow, to root: [Value]?) throws(Refusal) {
        guard let root, let link = row.section.parent.first(where: { root[$0.rootColumn].isNull }) else { return }
        let record = row.resource.root
        let fields = (record.fields + record.readOnly).filter { $0.column == link.rootColumn }.map(\.name)
        let name = fields.first ?? record.columns[link.rootColumn].name
        throw Refusal(
            problem: Problem(
                .notNull,
                detail:
                    "Rows of “\(row.section.name)” belong to their record by “\(name)”, and the record has no value there.",
                path: row.edit.path, retry: .never, fields: fields))
    }

    /// Reverses a soft deletion and keeps later changes of other programs.
    ///
    /// - Returns: the row's key; nil if no soft deletion is to be reversed.
    private func unhide(_ row: EditedRow) throws -> RecordKey? {
        let section = row.section
        guard let set = section.softDelete?.value, let deleted = row.edit.extras, let key = row.edit.id?.key else {
            return nil
        }
        let rows = try reader.rows(
            of: section, where: Array(0..<section.keyCount), in: [key.parts], locking: true, includesHidden: true)
        guard let hidden = rows.first else { return nil }
        let values = deleted.values.filter { value in set.contains { $0.column == value.column.name } }
        let address = address(of: hidden, in: section)
        let named = address.map { RawValue(column: section.columns[$0.column], value: $0.value) }
        try noteShown(row, in: section, current: hidden, writing: [])
        changes.note(active.footprints[section].reference(to: key), .everything)
        try write(RawSQL(dialect).update(section.table, values, where: named), of: row, current: hidden)
        if !row.resource.isAtomic { inverses.append(SectionSQL.of(section, dialect).softDelete(set, key: address)) }
        return key
    }

    func address(of row: [Value], in section: Section) -> [Assignment] {
        section.addressPositions.map { Assignment(column: $0, value: row[$0]) }
    }

    private func mean(_ assignments: [Assignment], of row: EditedRow, key: () -> RecordKey) {
        reports[row.index].meant.append(
            WriteProof.Meant(
                section: row.edit.section, item: row.section.kind == .list ? key() : nil, assignments: assignments))
    }

    /// Updates a row, at once or later in a common statement.
    func update(_ assignments: [Assignment], of row: EditedRow, current: [Value]) throws {
        let section = row.section
        let key = address(of: current, in: section)
        let footprint = active.footprints[section]
        let reference =
            isNamedOnce(section) && !footprint.isCheckedElsewhere
            ? nil : footprint.reference(to: RecordKey(key.map(\.value)))
        mean(assignments, of: row) { section.key(of: current) }
        try noteShown(row, in: section, current: current, writing: assignments)
        try noteOriginal(current, in: section, writing: assignments)
        if footprint.writesReferenced(assignments) { try noteCascades(of: assignments, row, current: current) }
        let last = noteReach(of: assignments, in: row, footprint: footprint, reference: reference)
        if mode.writesTogether, row.resource.isAtomic {
            let isUnique = footprint.writesUnique(assignments)
            let owner = batch.owners[row.index]
            if updates.mustGoBefore(last, in: footprint.table, isUnique: isUnique, owner: owner) { try flush() }
            updates.add(
                PendingUpdates.Update(
                    row: row, change: SectionSQL.Change(key: key, assignments: assignments), current: current),
                at: changes.now, reaching: footprint, isUnique: isUnique, owner: owner)
            return
        }
        let sql = SectionSQL.of(section, dialect)
        try write(sql.update(assignments, key: key), of: row, setting: assignments, current: current)
        if !row.resource.isAtomic {
            let before = assignments.map { Assignment(column: $0.column, value: current[$0.column]) }
            inverses.append(sql.update(before, key: key))
        }
    }

    /// Records the reach of an update.
    ///
    /// - Returns: the time of the row's previous change; nil if there was none.
    private func noteReach(
        of assignments: [Assignment], in row: EditedRow, footprint: Footprint, reference: RowReference?
    ) -> Int? {
        if let reference, footprint.isCheckedElsewhere {
            sharedWrites[reference, default: [:]][row.id, default: []]
                .formUnion(assignments.map { row.section.columns[$0.column].name.lowercased() })
        }
        let reachesOn = footprint.writesReferenced(assignments)
        if reachesOn { writesReferenced = true }
        let reach = reachesOn ? .everything : footprint.reach
        if let reference { return changes.note(reference, reach) }
        changes.note(inTable: footprint.table, reach)
        return nil
    }

    /// Writes the waiting updates.
    ///
    /// - Throws: `CheckFailure` if a single update is refused; `NotShareable` in a shared transaction, because a push
    ///   that is refused later could no longer be left out.
    func flush() throws {
        if updates.isEmpty { return }
        if batch.isShared { throw NotShareable() }
        try writePending()
    }

    /// Writes the waiting updates, also in a shared transaction from which no push is left out any more.
    func writePending() throws {
        if updates.isEmpty { return }
        if let only = updates.only {
            updates = PendingUpdates()
            return try refusing(only.row.index) {
                try write(
                    statement(only), of: only.row, setting: only.change.assignments, current: only.current)
            }
        }
        let sent = sendUpdates()
        try together { () throws(StoreError) in try receive(sent) }
    }

    /// Writes the waiting updates, runs the checks on all written rows, and reads the records again.
    ///
    /// Without checks, one round trip sends the updates together with the reads.
    func finish() throws -> [ReadRecord?] {
        // This run explains the refusal of a single update, unless pushes share the transaction.
        guard written.rows.isEmpty, updates.only == nil || batch.isShared else {
            try writePending()
            try runChecks()
            return try readAgain()
        }
        let collector = RecordCollector(session, dialect: dialect, limits: limits)
        let updates = sendUpdates()
        let asked = collector.send(reports)
        let records = try together { () throws(StoreError) in
            try receive(updates)
            return try collector.receive(asked)
        }
        return try proved(records)
    }

    private func sendUpdates() -> [Ticket] {
        defer { updates = PendingUpdates() }
        return updates.batches.compactMap { batch in
            guard let first = batch.first else { return nil }
            guard batch.count > 1 else { return session.send(statement(first)) }
            return SectionSQL.of(first.row.section, dialect).update(batch.map(\.change)).map { session.send($0) }
        }
    }

    /// Receives the answers to all writes, also after a refusal.
    private func receive(_ writes: [Ticket]) throws(StoreError) {
        var refusal: StoreError?
        for ticket in writes {
            do throws(StoreError) {
                _ = try session.receive(ticket)
            } catch {
                refusal = refusal ?? error
            }
        }
        if let refusal { throw refusal }
    }

    private func statement(_ update: PendingUpdates.Update) -> Statement {
        SectionSQL.of(update.row.section, dialect).update(update.change.assignments, key: update.change.key)
    }

    /// After a refusal, the next run writes the rows one by one to find the refused row.
    private func together<Answer>(_ body: () throws(StoreError) -> Answer) throws -> Answer {
        do throws(StoreError) {
            return try body()
        } catch {
            if error.refusal != nil, mode.writesTogether { throw RunAgain.editByEdit }
            guard case .constraint = error.kind else { throw error }
            throw RunAgain.editByEdit
        }
    }

    /// Assigns a refusal to an edit that is not the current edit.
    func refusing(_ report: Int, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let refusal as Refusal {
            throw CheckFailure(report: report, problem: refusal.problem)
        }
    }

    /// Runs compensations until `mark` are left.
    func takeBack(to mark: Int) throws(StoreError) {
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

    /// Runs a statement that writes a row.
    ///
    /// - Parameters:
    ///   - assignments: the columns that it sets.
    ///   - current: the row before the write; nil for an insertion.
    /// - Throws: `Refusal` for a violated constraint; `RunAgain`; `StoreError`.
    @discardableResult
    func write(
        _ statement: Statement, of row: EditedRow, setting assignments: [Assignment] = [], current: [Value]? = nil
    ) throws -> Execution {
        do {
            return try session.execute(statement)
        } catch {
            if let problem = error.refusal(of: row.edit.path) { throw Refusal(problem: problem) }
            guard case .constraint(let violation) = error.kind else { throw error }
            throw try explainer(of: row).refusal(violation, assignments: assignments, current: current)
        }
    }

    func explainer(of row: EditedRow) -> ConstraintExplainer {
        ConstraintExplainer(
            row: row, active: active, session: session, dialect: dialect, mode: mode, view: view(of: row.index))
    }
}
