import MergeCore
import RecordStore

/// Guards of rows, evaluated on the rows as they were before the push.
extension PushTransaction {
    struct GuardedRow: Hashable {
        let section: ObjectIdentifier
        let key: RecordKey
    }

    /// Returns the guards of a row.
    ///
    /// A deletion of a record is also subject to the guards of its other sections.
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

    func key(of row: [Value], in section: Section) -> RecordKey {
        RecordKey(address(of: row, in: section).map(\.value))
    }

    /// Returns the rule that freezes a row of another section of a record; nil if no row is frozen.
    private func frozenPart(of root: [Value], in resource: Resource) throws -> RuleReference? {
        // A soft deletion leaves the other rows unchanged.
        if resource.root.softDelete != nil { return nil }
        for section in resource.sections.dropFirst() where section.frozenWhen != nil {
            if !batch.isShared { try flush() }
            for part in try reader.rows(of: section, in: root, locking: true) where try isFrozen(part, in: section) {
                return section.frozenWhen?.rule
            }
        }
        return nil
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
}
