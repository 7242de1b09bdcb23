import GRDB

extension FieldMergeStore {
    /// Edits a record: `try await store.edit("shoppers", 123) { $0["customer", "address"] = ["street": "2 High St"] }`.
    ///
    /// When this returns, the edit is on disk. If it throws, nothing is stored.
    ///
    /// The edit is the difference to `base`, a record that `record`, `records` or `observe` returned, or else to the current
    /// record. A value that has changed since `base` was read can be a conflict.
    /// - Throws: `InvalidEdit` with the path of a name or value that the rules refuse, `FieldMergeError.recordNotFound`,
    ///   `FieldMergeError.otherRecord` for the base of another record, and the errors of the block.
    @discardableResult
    public func edit(
        _ resource: String, _ id: some RecordID, base: Record? = nil, isolation: isolated (any Actor)? = #isolation,
        _ change: (inout RecordEdit) throws -> Void
    ) async throws -> Ticket {
        let transaction = try await begin()
        try await visit(resource, id.jsonValue)
        try transaction.edit(resource, id, base: base, change)
        return try await commit(transaction.drafts(), nil)
    }

    /// Creates a record; it needs an id unless the database numbers it.
    ///
    /// - Returns: the ticket, whose `id` is the record's, temporary until the gateway has assigned one.
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
    /// The server merges all edits or none. With the atomicity `.edit` it refuses single edits and merges the rest.
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

    func noteEdit() async {
        if let count = try? await file.read({ try $0.editCount() }) { sync.knownEdits = count }
        tell(.edit)
    }
}
