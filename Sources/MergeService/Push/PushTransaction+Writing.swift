import MergeCore
import RecordStore

/// Writing what was decided, and taking it back where the database does not.
extension PushTransaction {
    /// Inserts a row.
    ///
    /// - Parameters:
    ///   - root: the row of the record that an item or singleton belongs to.
    ///   - extras: columns that the rules need not know, of a row that comes back.
    /// - Returns: the row's key, as far as it is known without reading it again.
    func insert(
        _ assignments: [Assignment], as row: EditedRow, root: [Value]?, extras: RawRow? = nil
    ) throws -> RecordKey {
        try checkLink(of: row, to: root)
        if batch.isShared { throw NotShareable() }
        // What was decided before is there when the row comes.
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
        // The database may store another spelling than the one that was sent.
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

    /// - Throws: `Refusal` where nothing would tie an item or singleton to its record.
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

    /// Takes a soft deletion back: the row that it hid is shown again, with what others wrote into it since.
    ///
    /// - Returns: the row's key; nil where no hidden row is to be taken back.
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

    /// Updates a row, at once or together with others.
    ///
    /// - Parameter current: the row's values before.
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

    /// Notes what an update may change.
    ///
    /// - Returns: the time at which the row changed last; nil where it did not.
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

    /// Writes the updates that wait.
    ///
    /// - Throws: `CheckFailure` where the only one is refused, `NotShareable` where others share the transaction: what
    ///   one of them is refused later could then not be left out any more.
    func flush() throws {
        if updates.isEmpty { return }
        if batch.isShared { throw NotShareable() }
        try writePending()
    }

    /// Writes the updates that wait, also those of pushes that share the transaction: nothing is left out of them any more.
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

    /// Writes the updates that wait, runs the checks on everything written, and reads the records again.
    ///
    /// Without checks nothing has to be known of the updates before the records are read, so all is sent at once.
    func finish() throws -> [ReadRecord?] {
        // A refusal of the only one is explained by the run at hand, unless others share it.
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

    /// Sends the updates that wait as few statements.
    private func sendUpdates() -> [Ticket] {
        defer { updates = PendingUpdates() }
        return updates.batches.compactMap { batch in
            guard let first = batch.first else { return nil }
            guard batch.count > 1 else { return session.send(statement(first)) }
            return SectionSQL.of(first.row.section, dialect).update(batch.map(\.change)).map { session.send($0) }
        }
    }

    /// Waits for all writes, also behind one that was refused.
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

    /// Writes several rows; if one is refused, the next run of the transaction writes them one by one, to tell which.
    private func together<Answer>(_ body: () throws(StoreError) -> Answer) throws -> Answer {
        do throws(StoreError) {
            return try body()
        } catch {
            if error.refusal != nil, mode.writesTogether { throw RunAgain.editByEdit }
            guard case .constraint = error.kind else { throw error }
            throw RunAgain.editByEdit
        }
    }

    /// A refusal with the edit that it belongs to, which is not the one at hand.
    func refusing(_ report: Int, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let refusal as Refusal {
            throw CheckFailure(report: report, problem: refusal.problem)
        }
    }

    /// Undoes by hand what the database does not undo.
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
    ///   - current: the row's values before; nil where it is inserted.
    /// - Throws: `Refusal` where a constraint of the database refuses it; `RunAgain`; `StoreError`.
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
