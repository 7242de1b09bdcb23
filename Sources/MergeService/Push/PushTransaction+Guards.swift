import MergeCore
import RecordStore

/// Guards of rows, judged on them as they were before the push.
extension PushTransaction {
    /// Names a row as one section shows it.
    struct GuardedRow: Hashable {
        let section: ObjectIdentifier
        let key: RecordKey
    }

    /// Returns the guards of a row.
    ///
    /// - Parameters:
    ///   - row: as it stands now.
    ///   - action: a deletion of a record is guarded by the rows of its other sections as well.
    func guards(of row: [Value], in edited: EditedRow, _ action: RowAction) throws -> RowGuards {
        let section = edited.section
        var guards = RowGuards()
        guards.isNew = isNew(row, in: section)
        if section.frozenWhen != nil, try isFrozen(row, in: section) { guards.frozen = section.frozenWhen?.rule }
        if case .delete = action, section.kind == .root, guards.frozen == nil {
            guards.frozen = try frozenPart(of: row, in: edited.resource)
        }
        guards.before = original(of: row, in: section)
        return guards
    }

    private func key(of row: [Value], in section: Section) -> RecordKey {
        RecordKey(address(of: row, in: section).map(\.value))
    }

    /// The rule that keeps a row of another section of a record; nil where none is kept.
    private func frozenPart(of root: [Value], in resource: Resource) throws -> RuleReference? {
        // A soft deletion leaves the other rows as they are.
        if resource.root.softDelete != nil { return nil }
        for section in resource.sections.dropFirst() where section.frozenWhen != nil {
            if !batch.isShared { try flush() }
            for part in try reader.rows(of: section, in: root, locking: true) where try isFrozen(part, in: section) {
                return section.frozenWhen?.rule
            }
        }
        return nil
    }

    /// Returns a row as it was before the push, as far as guards and conditions of access look at it.
    ///
    /// - Returns: nil if the push has not changed the row.
    func original(of row: [Value], in section: Section) -> [Value]? {
        guard !originals.isEmpty,
            let known = originals[active.footprints[section].reference(to: key(of: row, in: section))]
        else { return nil }
        return zip(section.columns, row).map { known[$0.name.lowercased()] ?? $1 }
    }

    /// Returns true for a row that the push inserted.
    func isNew(_ row: [Value], in section: Section) -> Bool {
        !fresh.isEmpty && isNew(key(of: row, in: section), in: section)
    }

    /// True for a row that the push inserted, where that is kept.
    func isNew(_ key: RecordKey, in section: Section) -> Bool {
        !fresh.isEmpty && fresh.contains(InsertedRow(table: section.table, key: key))
    }

    private func isFrozen(_ row: [Value], in section: Section) throws(StoreError) -> Bool {
        let address = address(of: row, in: section)
        if isNew(RecordKey(address.map(\.value)), in: section) { return false }
        let name = GuardedRow(section: section.origin, key: RecordKey(address.map(\.value)))
        if let known = frozen[name] { return known }
        let question = SectionSQL.of(section, dialect).frozen(
            where: address.map(\.column), in: [address.map(\.value)], locking: session.mustLockReads)
        let isFrozen = try question.map { question throws(StoreError) in try !session.query(question).isEmpty } ?? false
        frozen[name] = isFrozen
        return isFrozen
    }

    /// Records what a row contained before the push, and whether it is frozen under any section that shows it.
    ///
    /// - Parameter assignments: the columns that are about to be written.
    func noteOriginal(_ row: [Value], in section: Section, writing assignments: [Assignment]) throws(StoreError) {
        let isGuarded = active.views.hasGuards(section.table)
        let tested = active.views.testedColumns(of: section.table)
        if !isGuarded, tested.isEmpty { return }
        for part in assignments {
            let name = section.columns[part.column].name.lowercased()
            guard isGuarded || tested.contains(name) else { continue }
            let reference = active.footprints[section].reference(to: key(of: row, in: section))
            if originals[reference]?[name] == nil { originals[reference, default: [:]][name] = row[part.column] }
        }
        guard isGuarded else { return }
        for other in active.views[section.table]
        where other.section.frozenWhen != nil && other.section.origin != section.origin {
            let names = other.section.columns.prefix(other.section.keyCount).map { $0.name.lowercased() }
            let key = names.compactMap { name in
                section.columns.firstIndex { $0.name.lowercased() == name }.map { row[$0] }
            }
            guard !key.isEmpty, key.count == names.count else { continue }
            let found = GuardedRow(section: other.section.origin, key: RecordKey(key))
            guard frozen[found] == nil,
                let question = SectionSQL.of(other.section, dialect).frozen(
                    where: Array(0..<key.count), in: [key], locking: session.mustLockReads)
            else { continue }
            frozen[found] = try !session.query(question).isEmpty
        }
    }
}
