/// The records and ids that a push concerns: pushes with a common record or id keep their order.
struct PushFootprint {
    private var records: Set<RecordPlace> = []
    private var temporaryIDs: Set<String> = []
    /// The records that it creates or deletes.
    private var changed: Set<RecordPlace> = []
    /// The records that its references name.
    private var named: Set<RecordPlace> = []

    var isEmpty: Bool { records.isEmpty }

    init() {}

    init(_ edits: [Ledger.StoredEdit], _ rules: Rules?) {
        for edit in edits {
            records.insert(edit.record)
            temporaryIDs.formUnion(edit.changes.usedIDs(with: edit.id))
            guard let resource = rules?.resources[edit.resource] else { continue }
            if edit.changes.isCreation(of: resource) || edit.changes.isDeletion(of: resource) {
                changed.insert(edit.record)
            }
            for change in edit.changes.rows {
                guard let section = resource.section(named: change.section) else { continue }
                named.formUnion(change.references(in: section))
            }
        }
    }

    /// Returns true if both pushes concern a record, a temporary id, or a record that one names and the other creates or
    /// deletes.
    func shares(with other: PushFootprint) -> Bool {
        !records.isDisjoint(with: other.records) || !temporaryIDs.isDisjoint(with: other.temporaryIDs)
            || !named.isDisjoint(with: other.changed) || !changed.isDisjoint(with: other.named)
    }

    /// Returns whether a reference of the push names one of these records.
    func names(_ records: Set<RecordPlace>) -> Bool { !named.isDisjoint(with: records) }

    mutating func formUnion(_ other: PushFootprint) {
        records.formUnion(other.records)
        temporaryIDs.formUnion(other.temporaryIDs)
        changed.formUnion(other.changed)
        named.formUnion(other.named)
    }
}

extension RowChange {
    /// The records that the fields of the change name, before or after it.
    fileprivate func references(in section: SectionRules) -> Set<RecordPlace> {
        let sides: [JSONObject] =
            switch step {
            case .create(let new): [new]
            case .delete(let old): [old]
            case .edit(let groups): groups.values.flatMap { [$0.old, $0.new] }
            }
        var found: Set<RecordPlace> = []
        for (name, value) in sides.joined() where !value.isNull {
            guard let resource = section.fields[name]?.references else { continue }
            found.insert(RecordPlace(resource: resource, key: value.key))
        }
        return found
    }
}
