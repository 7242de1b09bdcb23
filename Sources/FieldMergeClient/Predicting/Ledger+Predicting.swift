import GRDB

extension Ledger {
    /// Returns the gateway's probable results of edits, each based on the results before it.
    ///
    /// None while the gateway has other rules than these.
    func predictions(_ condition: String, _ arguments: StatementArguments) throws -> [Prediction] {
        guard try !awaitsRules() else { return [] }
        var records: [RecordPlace: JSONObject] = [:]
        var predictions: [Prediction] = []
        for edit in try edits(condition, arguments) {
            guard let known = try known(edit.resource), var record = try records[edit.record] ?? base(edit.record)
            else {
                continue
            }
            for change in edit.changes.rows {
                guard case .edit(let groups) = change.step, let section = known.section(named: change.section),
                    let row = change.row(of: record, isList: section.isList)
                else {
                    record = RecordChanges([change]).applied(to: record, id: edit.id, of: known) ?? record
                    continue
                }
                var written: [String: RowChange.GroupSides] = [:]
                for group in section.groups {
                    guard let sides = groups[group.name] else { continue }
                    let current = group.fields(of: row)
                    guard change.unknown.isDisjoint(with: group.fields.map(\.name)),
                        let decision = group.decision(old: sides.old, new: sides.new, current: current)
                    else {
                        written[group.name] = sides
                        continue
                    }
                    written[group.name] = RowChange.GroupSides(old: current, new: decision.written)
                    predictions.append(
                        Prediction(
                            resource: edit.resource, id: edit.id, section: section.name, item: change.item,
                            group: group.name, outcome: decision.outcome, isConflict: decision.isConflict,
                            current: group.value(of: current), written: group.value(of: decision.written),
                            hasUnknownGuard: section.hasUnknownGuard))
                }
                let made = RecordChanges([change.with(.edit(written))])
                record = made.applied(to: record, id: edit.id, of: known) ?? record
            }
            records[edit.record] = record
        }
        return predictions
    }
}
