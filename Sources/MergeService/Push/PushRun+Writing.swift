import MergeCore
import RecordStore

/// Writing what was decided, and taking it back where the database does not.
extension PushRun {
    func insert(
        _ assignments: [Assignment], _ edit: RowEdit, _ step: PushPlan.Step, root: [Value]?, extras: RawRow? = nil
    ) throws -> RecordKey {
        if isShared { throw NotShareable() }
        // What was decided before is there when the row comes.
        try flush()
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
        if let hidden = try unhide(edit, step, section) { return hidden }
        for link in section.parent where !key.contains(where: { $0.column == link.column }) {
            if let root { key.append(Assignment(column: link.column, value: root[link.rootColumn])) }
        }
        let all = key + assignments
        let execution = try write(
            SectionSQL.of(section, dialect).insert(all, extras: (extras ?? edit.extras)?.values ?? []), all, nil,
            edit, step)
        let parts = (0..<section.keyCount).map { column in
            all.first { $0.column == column }?.value ?? .integer(execution.generatedKey)
        }
        let made = RecordKey(parts)
        let footprint = served.footprints[section]
        // The database may store another spelling than the one that was sent.
        changes.note(footprint.reference(to: made), made.hasText ? .everything : footprint.reach)
        if edit.id?.key == nil {
            inserted[InsertedRow(table: section.table, key: made)] = .some(edit.id?.temporary)
        }
        if !step.edit.resource.isAtomic {
            let key = zip(0..., parts).map { Assignment(column: $0, value: $1) }
            inverses.append(SectionSQL.of(section, dialect).delete(key: key))
        }
        mean(assignments, in: section, { made }, edit, step)
        if let temporary = edit.id?.temporary {
            created[temporary] = made
            reports[step.index].ids.append(IDMapping(temporary: temporary, key: made, section: edit.section))
        }
        return made
    }

    /// Takes a soft deletion back: the row that it hid is shown again, with what others wrote into it since.
    ///
    /// - Returns: the row's key; nil where no hidden row is to be taken back.
    private func unhide(_ edit: RowEdit, _ step: PushPlan.Step, _ section: Section) throws -> RecordKey? {
        guard let set = section.softDelete?.value, let deleted = edit.extras, let key = edit.id?.key else { return nil }
        let rows = try reader.rows(
            of: section, where: Array(0..<section.keyCount), in: [key.parts], locking: true, includesHidden: true)
        guard let row = rows.first else { return nil }
        let values = deleted.values.filter { value in set.contains { $0.column == value.column.name } }
        let named = address(of: row, in: section).map { part in
            RawValue(column: section.columns[part.column], value: part.value)
        }
        changes.note(served.footprints[section].reference(to: key), .everything)
        _ = try write(RawSQL(dialect).update(section.table, values, where: named), [], row, edit, step)
        if !step.edit.resource.isAtomic {
            inverses.append(SectionSQL.of(section, dialect).softDelete(set, key: address(of: row, in: section)))
        }
        return key
    }

    func address(of row: [Value], in section: Section) -> [Assignment] {
        let columns = section.keyCount > 0 ? Array(0..<section.keyCount) : section.parent.map(\.column)
        return columns.map { Assignment(column: $0, value: row[$0]) }
    }

    private func mean(
        _ assignments: [Assignment], in section: Section, _ key: () -> RecordKey, _ edit: RowEdit,
        _ step: PushPlan.Step
    ) {
        reports[step.index].meant.append(
            WriteProof.Meant(
                section: edit.section, item: section.kind == .list ? key() : nil, assignments: assignments))
    }

    func update(
        _ assignments: [Assignment], _ section: Section, _ row: [Value], _ edit: RowEdit, _ step: PushPlan.Step
    ) throws {
        let key = address(of: row, in: section)
        let id = SectionID(resource: step.edit.resource.name, section: edit.section)
        let footprint = served.footprints[section]
        // Most pushes name each row once, and nothing else reaches its table: then no row has to be remembered.
        let isOnlyOnce =
            namesEachOnce && section.kind == .root && !footprint.isShared && footprint.reach != .everything
        let reference = isOnlyOnce ? nil : footprint.reference(to: RecordKey(key.map(\.value)))
        mean(assignments, in: section, { section.key(of: row) }, edit, step)
        if let reference, footprint.isShared {
            sharedWrites[reference, default: [:]][id, default: []]
                .formUnion(assignments.map { section.columns[$0.column].name.lowercased() })
        }
        let reachesOn = footprint.writesReferenced(assignments)
        if reachesOn { writesReferenced = true }
        let reach = reachesOn ? .everything : footprint.reach
        if let reference { changes.note(reference, reach) } else { changes.note(inTable: footprint.table, reach) }
        if mode.writesTogether, step.edit.resource.isAtomic {
            let isUnique = footprint.writesUnique(assignments)
            let owner = isShared ? owners[step.index] : 0
            if updates.mustGoBefore(reference, in: footprint.table, isUnique: isUnique, owner: owner) { try flush() }
            updates.add(
                PendingUpdates.Update(
                    section: section, change: SectionSQL.Change(key: key, assignments: assignments), row: row,
                    edit: edit, step: step, reference: reference), id, footprint, isUnique: isUnique, owner: owner)
            return
        }
        _ = try write(SectionSQL.of(section, dialect).update(assignments, key: key), assignments, row, edit, step)
        if !step.edit.resource.isAtomic {
            let before = assignments.map { Assignment(column: $0.column, value: row[$0.column]) }
            inverses.append(SectionSQL.of(section, dialect).update(before, key: address(of: row, in: section)))
        }
    }

    /// Writes the updates that wait.
    ///
    /// - Throws: `CheckFailure` where the only one is refused, `NotShareable` where others share the transaction: what
    ///   one of them is refused later could then not be left out any more.
    func flush() throws {
        if updates.isEmpty { return }
        if isShared { throw NotShareable() }
        try writePending()
    }

    /// Writes the updates that wait, also those of pushes that share the transaction: nothing is left out of them any more.
    func writePending() throws {
        if updates.isEmpty { return }
        if let only = updates.only {
            updates = PendingUpdates()
            return try refusing(only.step.index) {
                _ = try write(statement(only), only.change.assignments, only.row, only.edit, only.step)
            }
        }
        let sent = sendUpdates()
        try together { () throws(StoreError) in try receive(sent) }
    }

    /// Writes the updates that wait, runs the checks on everything written, reads the records again, and makes the
    /// answer of them.
    ///
    /// Without checks nothing has to be known of the updates before the records are read, so all is sent at once.
    func finish<Answer>(_ answer: ([Record?]) -> Answer) throws -> Answer {
        // A refusal of the only one is explained by the run at hand, unless others share it.
        guard written.rows.isEmpty, updates.only == nil || isShared else {
            try writePending()
            try runChecks()
            return try readAgain(answer)
        }
        let collector = RecordCollector(session, dialect, limits)
        let updates = sendUpdates()
        let asked = collector.send(reports)
        let records = try together { () throws(StoreError) in
            try receive(updates)
            return try collector.receive(asked)
        }
        try prove(records)
        return answer(records)
    }

    /// Sends the updates that wait as few statements.
    private func sendUpdates() -> [Ticket] {
        defer { updates = PendingUpdates() }
        return updates.batches.compactMap { batch in
            guard let first = batch.first else { return nil }
            guard batch.count > 1 else { return session.send(statement(first)) }
            return SectionSQL.of(first.section, dialect).update(batch.map(\.change)).map { session.send($0) }
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
        SectionSQL.of(update.section, dialect).update(update.change.assignments, key: update.change.key)
    }

    /// Where one of several rows is refused, the next run of the transaction writes them one by one, to tell which.
    private func together<Answer>(_ body: () throws(StoreError) -> Answer) throws(StoreError) -> Answer {
        do throws(StoreError) {
            return try body()
        } catch {
            guard case .constraint = error.kind else { throw error }
            throw mode.oneByOne()
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

    /// Deletes a row, and notes beside its outcome what the database takes along.
    func delete(
        _ row: [Value], _ section: Section, _ edit: RowEdit, _ step: PushPlan.Step, at index: Int? = nil, outcome: Int
    ) throws {
        if isShared { throw NotShareable() }
        try flush()
        let footprint = served.footprints[section]
        let reference = footprint.reference(to: RecordKey(address(of: row, in: section).map(\.value)))
        changes.note(reference, section.softDelete == nil ? footprint.deletionReach : footprint.reach)
        written.remove(
            address(of: row, in: section), SectionID(resource: step.edit.resource.name, section: index ?? edit.section))
        deleted.insert(reference)
        if journal != nil { reports[step.index].outcomes[outcome].wholeRow = try wholeRow(row, section) }
        if let set = section.softDelete?.value {
            let columns = set.compactMap { assignment in section.columns.firstIndex { $0.name == assignment.column } }
            let sql = SectionSQL.of(section, dialect)
            _ = try write(sql.softDelete(set, key: address(of: row, in: section)), [], row, edit, step)
            if !step.edit.resource.isAtomic {
                let before = columns.map { Assignment(column: $0, value: row[$0]) }
                inverses.append(sql.update(before, key: address(of: row, in: section)))
            }
            return
        }
        if served.schema.dependents[section.table] != nil {
            reports[step.index].outcomes[outcome].cascades = try cascades(of: row, in: section)
        }
        _ = try write(
            SectionSQL.of(section, dialect).delete(key: address(of: row, in: section)), [], row, edit, step)
        if !step.edit.resource.isAtomic {
            let whole = zip(0..., zip(section.columns, row)).filter { $1.0.type != .wellKnownText }
            inverses.append(
                SectionSQL.of(section, dialect).insert(whole.map { Assignment(column: $0, value: $1.1) }))
        }
    }

    func cascades(of row: [Value], in section: Section) throws(StoreError) -> [Cascade] {
        try CascadeFinder(schema: served.schema, session: session, dialect: dialect)
            .victims(of: row, section.columns, in: section.table)
    }

    /// Deletes a record with the rows of its other sections, the last section first, as those may hang on the others.
    func deleteRecord(_ root: [Value], _ edit: RowEdit, _ step: PushPlan.Step) throws {
        if isShared { throw NotShareable() }
        try flush()
        let resource = step.edit.resource
        let own = reports[step.index].outcomes.count - 1
        reports[step.index].outcomes[own].deletedRow = root
        // A soft deletion changes the root row alone.
        let isSoft = resource.root.softDelete != nil
        for index in resource.sections.indices.dropFirst().reversed() where !isSoft {
            let section = resource.sections[index]
            for row in try reader.rows(of: section, in: root, locking: true) {
                var outcome = Outcome(
                    .deleted, section: index, item: section.kind == .list ? section.key(of: row) : nil,
                    rule: section.softDelete?.rule ?? .default)
                outcome.deletedRow = row
                reports[step.index].outcomes.append(outcome)
                try delete(row, section, edit, step, at: index, outcome: reports[step.index].outcomes.count - 1)
            }
        }
        try delete(root, resource.root, edit, step, outcome: own)
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

    func write(
        _ statement: Statement, _ assignments: [Assignment], _ row: [Value]?, _ edit: RowEdit, _ step: PushPlan.Step
    ) throws -> Execution {
        do {
            return try session.execute(statement)
        } catch {
            guard case .constraint(let violation) = error.kind else { throw error }
            let explainer = ConstraintExplainer(
                resource: step.edit.resource, section: edit.section, served: served, session: session,
                dialect: dialect, mode: mode, isCreation: edit.isCreation)
            throw try explainer.refusal(violation, assignments: assignments, row: row, path: edit.path, error: error)
        }
    }
}
