import GRDB

extension FieldMergeStore {
    /// Edits a record: `try await store.edit("shoppers", 123) { $0["customer", "address"] = ["street": "2 High St"] }`.
    ///
    /// It is on disk when this returns; where it throws, nothing of it is left.
    /// - Throws: `InvalidEdit` with the path of what the rules refuse, `FieldMergeError.recordNotFound`, and what the
    ///   block throws.
    @discardableResult
    public func edit(
        _ resource: String, _ id: some RecordID, isolation: isolated (any Actor)? = #isolation,
        _ change: (inout RecordEdit) throws -> Void
    ) async throws -> Ticket {
        let transaction = try await begin()
        try await visit(resource, id.jsonValue)
        try transaction.edit(resource, id, change)
        return try await commit(transaction.drafts(), nil)
    }

    /// Creates a record; one that the database does not number needs an id.
    ///
    /// - Returns: the ticket, whose `id` is the record's, temporary until the gateway has given one.
    @discardableResult
    public func create(
        _ resource: String, id: (any RecordID)? = nil, isolation: isolated (any Actor)? = #isolation,
        _ fill: (inout RecordEdit) throws -> Void = { _ in }
    ) async throws -> Ticket {
        let transaction = try await begin()
        try transaction.create(resource, id: id, fill)
        return try await commit(transaction.drafts(), nil)
    }

    /// Deletes a record.
    ///
    /// - Throws: `FieldMergeError.recordNotFound`.
    @discardableResult
    public func delete(
        _ resource: String, _ id: some RecordID, isolation: isolated (any Actor)? = #isolation
    ) async throws -> Ticket {
        let transaction = try await begin()
        try await visit(resource, id.jsonValue)
        try transaction.delete(resource, id)
        return try await commit(transaction.drafts(), nil)
    }

    /// Edits several records as one push: `store.transaction { t in try t.edit(…) { … }; try t.create(…) { … } }`.
    ///
    /// - Parameter atomicity: with `.edit` the server refuses what it must and merges the rest; else it is all or nothing.
    @discardableResult
    public func transaction(
        atomicity: Atomicity = .push, isolation: isolated (any Actor)? = #isolation,
        _ body: nonisolated(nonsending) (FieldMergeTransaction) async throws -> Void
    ) async throws -> Ticket {
        let transaction = try await begin()
        try await body(transaction)
        return try await commit(transaction.drafts(), atomicity == .push ? nil : atomicity)
    }

    private func begin(
        isolation: isolated (any Actor)? = #isolation
    ) async throws -> FieldMergeTransaction {
        let (held, isOver) = try await file.read { (try $0.rules(), try $0.isSignedOut()) }
        if isOver { throw FieldMergeError.storeClosed }
        guard let rules = held else { throw FieldMergeError.rulesUnknown }
        return FieldMergeTransaction(over: .store(self), rules: rules)
    }

    func commit(_ drafts: [Draft], _ atomicity: Atomicity?) async throws -> Ticket {
        try await commit { try $0.commit(drafts, atomicity) }
    }

    /// Stores an edit of the app in one transaction.
    ///
    /// - Parameter body: returns the ticket's token.
    /// - Throws: `FieldMergeError.storage` if the store cannot be written.
    func commit(_ body: @escaping @Sendable (Ledger) throws -> String) async throws -> Ticket {
        do {
            let (token, id) = try await write("edit") { ledger in
                let token = try body(ledger)
                return (token, try ledger.ticketID(token))
            }
            await noteEdit()
            return Ticket(token: token, id: id, store: self)
        } catch let error as DatabaseError {
            throw FieldMergeError.storage("\(error)")
        }
    }

    private func noteEdit() async {
        if let count = try? await file.read({ try $0.editCount() }) { knownEdits = count }
        tell(.edit)
    }

    // MARK: What events ask for

    func takeMine(_ conflict: Conflict) async throws -> Ticket? {
        if conflict.group != nil { return try await write(conflict.new, into: conflict) }
        let isDeletion = conflict.outcome == "refused" && conflict.new.isNull
        if conflict.outcome == "kept" || isDeletion { return try await deleteRow(of: conflict) }
        guard ["missing", "refused"].contains(conflict.outcome), let values = conflict.new.objectValue else {
            return nil
        }
        return try await createRow(of: conflict, (conflict.old.objectValue ?? [:]).merging(values) { _, new in new })
    }

    /// Edits the group of a conflict once more.
    func write(_ value: JSONValue, into conflict: Conflict) async throws -> Ticket? {
        guard let group = conflict.group else { return nil }
        let place = (resource: conflict.resource, id: conflict.id, section: conflict.section, item: conflict.item)
        return try await write(value, into: group, of: place)
    }

    private func write(
        _ value: JSONValue, into group: String,
        of place: (resource: String, id: JSONValue, section: String, item: JSONValue?)
    ) async throws -> Ticket {
        let item = try await resolved(place.item)
        return try await edit(place.resource, place.id) { record in
            guard let item else {
                record[place.section, group] = value
                return
            }
            let items = record[place.section].arrayValue ?? []
            if let index = items.firstIndex(where: { $0["id"].key == item.key }) {
                record[place.section, index, group] = value
            } else {
                record[place.section].append(value.objectValue == nil ? [group: value] : value)
            }
        }
    }

    private func resolved(_ id: JSONValue?) async throws -> JSONValue? {
        guard let id else { return nil }
        return try await file.read { try $0.resolve(id) }
    }

    private func deleteRow(of conflict: Conflict) async throws -> Ticket? {
        let isRoot = try await file.read { try $0.resource(conflict.resource).root.name == conflict.section }
        let item = try await resolved(conflict.item)
        if isRoot { return try await delete(conflict.resource, conflict.id) }
        return try await edit(conflict.resource, conflict.id) { record in
            if let item {
                record[conflict.section].removeAll { $0["id"].key == item.key }
            } else {
                record[conflict.section] = .null
            }
        }
    }

    private func createRow(of conflict: Conflict, _ values: JSONObject) async throws -> Ticket? {
        let known = try await file.read { try $0.resource(conflict.resource) }
        let section = try known.section(conflict.section)
        if section.name == known.root.name {
            return try await create(conflict.resource, id: section.isGenerated ? nil : conflict.id) { record in
                record[section.name] = .object(values)
            }
        }
        return try await edit(conflict.resource, conflict.id) { record in
            guard section.isList else {
                record[section.name] = .object(values)
                return
            }
            var row = values
            row["id"] = section.isGenerated ? nil : conflict.item
            record[section.name].append(.object(row))
        }
    }

    /// Changes an edit that was overtaken, or makes another where it was sent meanwhile.
    func settle(_ overtaken: Overtaken, keeps: Bool) async throws {
        if try await write("overtaken", { try $0.redraft(overtaken.told, keeps: keeps) }) { return }
        let place = (resource: overtaken.resource, id: overtaken.id, section: overtaken.section, item: overtaken.item)
        let told = overtaken.told
        guard let value = try await keeps ? overtaken.new : file.read({ try $0.takingBack(told) }) else { return }
        _ = try await write(value, into: overtaken.group, of: place)
    }

    // MARK: Refused edits

    /// Returns the edits that were refused for good and neither sent again nor given up.
    public func refusedEdits() async throws -> [RefusedEdit] {
        try await file.read { ledger in try ledger.refusals().map { try RefusedEdit($0, in: ledger, of: self) } }
    }

    func resend(_ push: Int64) async throws -> Bool {
        let isDone = try await write("resend") { try $0.resend(push) }
        if isDone { tell(.edit) }
        return isDone
    }

    func discard(_ push: Int64) async throws -> Bool { try await write("discard") { try $0.discard(push) } }
}
