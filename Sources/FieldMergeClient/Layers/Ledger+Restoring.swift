import GRDB

/// Forms with the values of refused edits.
extension Ledger {
    /// Returns a form of the record of a refused edit, with the edit's values over it.
    ///
    /// - Returns: the form, and the changes that no row of it has.
    func restored(_ push: Int64) throws -> (form: RecordEdit, unfit: [RowChange]) {
        let edits = try edits(of: push)
        guard let rules = try rules() else { throw FieldMergeError.rulesUnknown }
        guard Set(edits.map(\.record)).count == 1, let edit = edits.first else { throw FieldMergeError.severalRecords }
        let known = try rules.resource(edit.resource)
        if edit.changes.isDeletion(of: known) {
            throw InvalidEdit(path: known.root.name, detail: "a deletion has no form: send it again or discard it")
        }
        let base = try view(edit.resource, edit.id)
        let changes = try edit.changes.regrouped(
            for: known, over: base, unknown: UnknownFields(of: [], base: base, resource: known))
        let isCreation = changes.isCreation(of: known)
        guard base != nil || isCreation else {
            throw FieldMergeError.recordNotFound(resource: edit.resource, id: edit.id)
        }
        var form = RecordEdit(known, id: edit.id, before: isCreation ? nil : base)
        form.restore(
            isCreation
                ? changes.created(form.state, of: known) : changes.applied(to: base, id: edit.id, of: known) ?? [:])
        let unfit = changes.rows.filter { change in
            let isList = known.section(named: change.section)?.isList ?? false
            return !isCreation && !change.groups.isEmpty && change.row(of: base, isList: isList) == nil
        }
        return (form, unfit)
    }

    /// Stores the changes of a form, and removes the refused push whose values it has from the list.
    ///
    /// The tickets of that push get the outcome of the edit.
    ///
    /// - Parameter unfit: the changes of that push without a row in the form; they remain refused.
    func commit(_ draft: Draft, restoring push: Int64?, unfit: [RowChange]) throws -> String {
        guard let push else { return try commit([draft], nil) }
        guard try state(of: push) == .refused else { throw FieldMergeError.notRefused }
        let tokens = try tickets("push = ?", [push]).map(\.token)
        let edits = try edits(of: push)
        effects.touched.formUnion(edits.map(\.record))
        if !unfit.isEmpty { try keepRefused([unfit], of: push, edits) }
        try write("DELETE FROM edit WHERE push = ?", [push])
        try write("DELETE FROM push WHERE seq = ?", [push])
        let token = try commit([draft], nil)
        let row = try row("SELECT push, outcome FROM ticket WHERE token = ?", [token])
        for earlier in tokens {
            try write(
                "UPDATE ticket SET push = ?, outcome = ? WHERE token = ?",
                [row?[0] as Int64?, row?[1] as String?, earlier])
        }
        if !tokens.isEmpty { effects.hasOutcomes = true }
        return token
    }
}

extension RecordChanges {
    /// Returns a new record with the values of its creation only.
    fileprivate func created(_ blank: JSONObject, of resource: ResourceRules) -> JSONObject {
        var record = blank
        for change in rows {
            guard case .create(var new) = change.step else { continue }
            if let item = change.item {
                new["id"] = item
                record[change.section] = .array((record[change.section]?.arrayValue ?? []) + [.object(new)])
            } else {
                record[change.section] = .object(new)
            }
        }
        return record
    }
}
