import MergeCore
import RecordStore

/// The facts of a run for a decision.
///
/// Every function is pure. A missing or outdated answer ends the decision with its question.
struct FactView {
    let run: RunEnvironment
    let facts: Facts
    /// The writes of the run so far.
    let changes: RowChanges
    let keys: CreatedKeys

    var before: RowsBefore { facts.before }

    // MARK: Rows by key

    /// Returns the row with a key; nil if it does not exist.
    ///
    /// - Parameter equated: if true, also finds a row whose key is equal only under the collation, as a creation must.
    func row(_ key: RecordKey?, of place: SectionPlace, equated: Bool) throws(DecidingStop) -> [Value]? {
        guard let key else { return nil }
        guard let known = known(key, of: place) else { throw .unanswered(.row(place, key)) }
        if let row = known.row { return row }
        guard equated, key.hasText else { return nil }
        return try rows(.equatedRows(place, key), of: place).first
    }

    /// Returns a row that was read, if no later write can have changed it; otherwise nil.
    func known(_ key: RecordKey, of place: SectionPlace) -> RowContext.Found? {
        guard let found = facts.rows[place.id, key] else { return nil }
        // Most pushes read all rows before their first write.
        if changes.now == found.time { return found }
        let footprint = run.footprint(place.section)
        if footprint.dependsOnOtherRows { return nil }
        let reference = run.isNamedOnce(place.section) ? nil : footprint.reference(to: key)
        return changes.mayHaveChanged(reference, in: footprint.table, since: found.time) ? nil : found
    }

    // MARK: Other rows

    func singleton(_ place: SectionPlace, of root: [Value]) throws(DecidingStop) -> [Value]? {
        let link = place.section.link(to: root)
        return link.contains(.null) ? nil : try rows(.singleton(place, link: link), of: place).first
    }

    func rows(of place: SectionPlace, in root: [Value]) throws(DecidingStop) -> [[Value]] {
        let link = place.section.link(to: root)
        return link.contains(.null) ? [] : try rows(.rows(place, link: link), of: place)
    }

    func rows(
        of place: SectionPlace, identifiedBy columns: [Int], _ values: [Value]
    ) throws(DecidingStop) -> [[Value]] {
        try rows(.identity(place, columns: columns, values: values), of: place)
    }

    /// Returns true if the rules hide a row from every client.
    func isHidden(_ row: [Value], of place: SectionPlace) throws(DecidingStop) -> Bool {
        guard place.section.visibility != nil else { return false }
        return try !rows(.hidden(place, place.section.addressKey(of: row)), of: place).isEmpty
    }

    private func rows(_ question: Question, of place: SectionPlace) throws(DecidingStop) -> [[Value]] {
        guard let known = facts.found[question], isCurrent(known, of: place.section) else {
            throw .unanswered(question)
        }
        return known.rows
    }

    private func isCurrent(_ found: Facts.Found, of section: Section) -> Bool {
        if changes.now == found.time { return true }
        let footprint = run.footprint(section)
        if footprint.dependsOnOtherRows || changes.mayHaveMoved(in: footprint.table, since: found.time) { return false }
        if found.rows.isEmpty {
            // A trigger may have changed a row so that the search finds it now.
            if footprint.mayMoveRows, changes.hasWritten(footprint.table, since: found.time) { return false }
            return !changes.mayHaveChanged(nil, in: footprint.table, since: found.time)
        }
        return found.rows.allSatisfy { row in
            let reference = footprint.reference(to: section.addressKey(of: row))
            return !changes.mayHaveChanged(reference, in: footprint.table, since: found.time)
        }
    }

    // MARK: Guards

    /// Returns the guards of a row.
    ///
    /// A deletion of a record is also subject to the guards of its other sections.
    func guards(of row: [Value], in edited: EditedRow, _ action: RowAction) throws(DecidingStop) -> RowGuards {
        let section = edited.section
        var guards = RowGuards()
        guards.isNew = before.isNew(row, in: section)
        if try isFrozen([row], of: edited.place) { guards.frozen = section.frozenWhen?.rule }
        if case .delete = action, section.kind == .root, guards.frozen == nil {
            guards.frozen = try frozenPart(of: row, in: edited.resource)
        }
        if case .delete = action, section.kind == .root, edited.step.edit.keepsLaterChanges {
            guards.hasLaterRows = try hasParts(row, in: edited.resource)
        }
        guards.before = before.original(of: row, in: section)
        return guards
    }

    /// Returns true if a record has rows in other sections that clients can write.
    ///
    /// An undo of a creation deletes the rows of its entry before the root, so other rows are later ones.
    private func hasParts(_ root: [Value], in resource: Resource) throws(DecidingStop) -> Bool {
        for (position, section) in resource.sections.enumerated().dropFirst() where !section.groups.isEmpty {
            if try !rows(of: SectionPlace(resource, position), in: root).isEmpty { return true }
        }
        return false
    }

    /// Returns the rule that freezes a row of another section of a record; nil if no row is frozen.
    private func frozenPart(of root: [Value], in resource: Resource) throws(DecidingStop) -> RuleReference? {
        // A soft deletion leaves the other rows unchanged.
        if resource.root.softDelete != nil { return nil }
        for position in resource.sections.indices.dropFirst() {
            guard let rule = resource.sections[position].frozenWhen?.rule else { continue }
            let place = SectionPlace(resource, position)
            if try isFrozen(rows(of: place, in: root), of: place) { return rule }
        }
        return nil
    }

    /// Returns true if the rules froze one of the rows before the push.
    private func isFrozen(_ rows: [[Value]], of place: SectionPlace) throws(DecidingStop) -> Bool {
        guard place.section.frozenWhen != nil else { return false }
        var open: [Question] = []
        for row in rows {
            switch before.isFrozen(row, in: place.section) {
            case true?: return true
            case false?: break
            case nil: open.append(.frozen(place, place.section.addressKey(of: row)))
            }
        }
        if open.isEmpty { return false }
        throw .unanswered(open)
    }

    // MARK: Deletions

    /// Returns the rows that the database deletes or changes with a row; empty if there are no foreign keys.
    func cascades(deleting row: [Value], of place: SectionPlace) throws(DecidingStop) -> [Cascade] {
        if run.active.schema.dependents(ofDeletionFrom: place.section.table).isEmpty { return [] }
        let question = Question.cascades(place, row: row)
        guard let known = facts.cascades[question], known.time == changes.now else { throw .unanswered(question) }
        return known.rows
    }

    /// Returns the last known values of a row; nil if the edit may not restore it.
    ///
    /// Deletions of this push come first, then the journal's entries from new to old. Older entries add missing fields,
    /// back to a deletion, which contains the whole row.
    ///
    /// - Parameters:
    ///   - key: the key of the row; nil in singletons, which their record identifies.
    ///   - record: the key of the record; nil if it has none yet.
    ///   - root: the record's own row; nil if that row is the missing one.
    func lastKnown(
        _ row: EditedRow, key: RecordKey?, in record: RecordKey?, of root: [Value]? = nil
    ) throws(DecidingStop) -> LastKnown? {
        let section = row.section
        guard run.journal != nil, section.onMissing.value == .restore, case .edit = row.edit.action, let record else {
            return nil
        }
        if let name = section.kind == .root ? record : key, let deleted = before.deletedRow(name, of: section) {
            return LastKnown(row: deleted, isForeign: !section.contains(deleted, in: root))
        }
        let missing = MissingRow(row: row, key: key, record: record, root: root)
        guard let known = facts.lastKnown[missing] else { throw .unanswered(.lastKnown(missing)) }
        return known
    }
}

extension Section {
    /// Returns true if a deleted row belonged to a record.
    ///
    /// - Parameter root: the record's own row; nil if that row is the missing one.
    func contains(_ row: RawRow, in root: [Value]?) -> Bool {
        guard let root else { return true }
        return parent.allSatisfy { link in
            row.contains(root[link.rootColumn], in: columns[link.column]) ?? true
        }
    }
}
