import GRDB

/// Fields of new rows that are unknown before the answer to the creation.
extension Ledger {
    /// Returns the fields of a record that are unknown now.
    func unknownFields(of resource: ResourceRules, _ key: IDText) throws -> UnknownFields {
        let place = RecordPlace(resource: resource.name, key: key)
        return UnknownFields(of: try pending(place).map(\.changes), base: try base(place), resource: resource)
    }

    /// Stores what the answer to creations reports of the fields that they leave to the database.
    ///
    /// Forms and bases from before the answer take these values, also if the record has changed since.
    func noteCreatedRows(of edit: StoredEdit, ids: [String: JSONValue], record: JSONObject?) throws {
        guard let known = try known(edit.resource) else { return }
        for (change, mapped) in zip(edit.changes.rows, edit.changes.mapped(ids).rows) {
            guard case .create(let new) = change.step, let section = known.section(named: change.section),
                let row = mapped.row(of: record, isList: section.isList)
            else { continue }
            // A field that the creation has set since a form opened is still null in the form.
            let fields = row.merging(new.mapValues { _ in .null }) { _, null in null }
            try write(
                "INSERT OR REPLACE INTO created_row VALUES (?, ?, ?, ?, ?)",
                [
                    edit.resource, edit.key, change.section, change.item?.key ?? IDText(""),
                    JSONValue.object(fields).text,
                ])
        }
    }

    /// Returns the rows of an edit's unknown fields as the answer to their creation reports them, with the edit's names.
    ///
    /// A page may contain a row with an id of the app before the answer, or instead of it.
    func answered(_ edit: RecordEdit) throws -> [RowChange.Place: JSONObject] {
        guard !edit.unknown.rows.isEmpty, let resource = try known(edit.resource.name) else { return [:] }
        // The id under which its user saw the record, which may be a temporary one.
        let seen = edit.before?["id"] ?? edit.id
        let key = try resolve(seen).key
        let waiting = try unknownFields(of: resource, key)
        let base = try base(RecordPlace(resource: resource.name, key: key))
        var found: [RowChange.Place: JSONObject] = [:]
        // A row that waits for its answer may have the place of an earlier one.
        for (place, names) in edit.unknown.rows where waiting.rows[place] == nil {
            guard let section = resource.section(named: place.section) else { continue }
            let item = try place.key.map { JSONValue.string(try resolve(key: $0).string) }
            let pulled = RowChange(section: section.name, item: item, step: .edit([:]))
                .row(of: base, isList: section.isList)
            guard let row = try createdRow(place, of: resource, keys: (seen.key, key)) ?? pulled else { continue }
            for name in names { found[place, default: [:]][name] = section.renamed(row)[section.renamed(name)] }
        }
        return found
    }

    /// Returns the fields that the answer to the creation of a row reports; nil if there is no answer.
    ///
    /// - Parameter keys: the id of its record as its user saw it, and the real one.
    private func createdRow(
        _ place: RowChange.Place, of resource: ResourceRules, keys: (seen: IDText, real: IDText)
    ) throws -> JSONObject? {
        try text(
            "SELECT fields FROM created_row WHERE resource = ?1 AND key IN (?2, ?3) AND section = ?4 AND item = ?5"
                + " ORDER BY key <> ?2", [resource.name, keys.seen, keys.real, place.section, place.key ?? IDText("")]
        ).flatMap { JSONValue(text: $0)?.objectValue }
    }

    /// Fills the unknown fields of later edits from the record in the answer to a creation.
    ///
    /// A value that was pulled since counts as the change of another client.
    func fillUnknown(after edit: StoredEdit, ids: [String: JSONValue], record: JSONObject?) throws {
        guard let record, let id = record["id"], let known = try known(edit.resource) else { return }
        var created = Set(edit.changes.mapped(ids).rows.filter(\.isCreation).map(\.place))
        for later in try pending(RecordPlace(resource: edit.resource, key: id.key)) where !created.isEmpty {
            if later.state == .unsent { try fill(later, from: record, of: known) { created.contains($0.place) } }
            // All later steps concern the row of the later creation.
            created.subtract(later.changes.rows.filter(\.isCreation).map(\.place))
        }
    }

    /// Fills the unknown fields of the first push in the queue; returns false if it is not sent any more.
    ///
    /// A row that is missing after its creation was deleted, and the push is refused as such.
    func knowsAll(of push: Int64) throws -> Bool {
        for edit in try edits(of: push) where edit.changes.hasUnknown {
            guard let known = try known(edit.resource) else { throw FieldMergeError.rulesUnknown }
            if let record = try base(edit.record) { try fill(edit, from: record, of: known) { _ in true } }
        }
        if try refuseUnfilled(push) { return false }
        for edit in try edits(of: push) {
            // If a row was already deleted, its deletion has nothing to do.
            let rows = edit.changes.rows.filter { !($0.isDeletion && !$0.unknown.isEmpty) }
            if rows.count < edit.changes.rows.count {
                try replaceChanges(push, edit.place, with: RecordChanges(rows))
                effects.touched.insert(edit.record)
            }
        }
        let edits = try edits(of: push)
        guard let index = edits.firstIndex(where: \.changes.hasUnknown) else {
            try settleCancelled(push)
            return try state(of: push) == .unsent
        }
        let edit = edits[index]
        let problem = ProblemDocument.make(
            "gone", status: 410, title: "Gone", detail: "A row of \(edit.resource) \(edit.id) is gone.")
        try refuse(push, problem, fault: index)
        return false
    }

    /// Refuses a push that needs fields which the gateway did not send with their row; returns whether there was one.
    private func refuseUnfilled(_ push: Int64) throws -> Bool {
        for (index, edit) in try edits(of: push).enumerated() where edit.changes.hasUnknown {
            guard let known = try known(edit.resource), let record = try base(edit.record) else { continue }
            let change = edit.changes.rows.first { change in
                let isList = known.section(named: change.section)?.isList ?? false
                return !change.unknown.isEmpty && change.row(of: record, isList: isList) != nil
            }
            guard let change else { continue }
            let names = change.unknown.sorted().joined(separator: ", ")
            let problem = ProblemDocument.make(
                "unknown-value", status: 409, title: "Unknown value",
                detail: "The gateway sent \(edit.resource) \(edit.id) without \(names) in \(change.section).")
            try refuse(push, problem, fault: index)
            return true
        }
        return false
    }

    private func fill(
        _ edit: StoredEdit, from record: JSONObject, of known: ResourceRules, where isMeant: (RowChange) -> Bool
    ) throws {
        guard edit.changes.hasUnknown else { return }
        let rows = edit.changes.rows.compactMap { change -> RowChange? in
            guard isMeant(change), let section = known.section(named: change.section),
                let row = change.row(of: record, isList: section.isList)
            else { return change }
            return change.filled(from: row, in: section)
        }
        let changes = RecordChanges(rows)
        guard changes != edit.changes else { return }
        try replaceChanges(edit.push, edit.place, with: changes)
        effects.touched.insert(edit.record)
        try settleCancelled(edit.push)
    }
}
