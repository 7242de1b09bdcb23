import GRDB

extension StoreEvents where Element == Conflict {
    /// Returns the undecided conflicts and overtaken edits, the oldest first: `try await store.conflicts()`.
    ///
    /// They survive a restart. The last 1,000 delivered entries are kept.
    public func callAsFunction() async throws -> [Conflict] {
        try await store.file.read { ledger in
            try ledger.listedConflicts().map { Conflict($0.body, kind: $0.kind, store) }
        }
    }
}

extension FieldMergeStore {
    // MARK: Conflicts

    /// Decides an entry of the list in one transaction; returns the ticket of the edit that follows.
    func decide(_ conflict: Conflict, isMine: Bool) async throws -> Ticket? {
        if conflict.name.isEmpty {
            guard isMine else { return nil }
            return try await decide(in: conflict.resource, id: conflict.id) { try $0.takeMine(conflict.told) }
        }
        return try await decide(in: conflict.resource, id: conflict.id) { ledger in
            try ledger.decide(conflict.name, isMine: isMine, shown: conflict.told)
        }
    }

    /// Decides an event of an edit that was overtaken.
    func decide(_ overtaken: Overtaken, isMine: Bool) async throws {
        if let draft = overtaken.draft { return draft.decide(overtaken.told, isMine: isMine) }
        guard overtaken.told["draft"].isNull else { return }
        _ = try await decide(in: overtaken.resource, id: overtaken.id) { ledger in
            // An event of an earlier version has no entry.
            overtaken.name.isEmpty
                ? try ledger.decide(overtaken: overtaken.told, isMine: isMine)
                : try ledger.decide(overtaken.name, isMine: isMine, shown: overtaken.told)
        }
    }

    /// Edits the group of a conflict once more.
    func write(_ value: JSONValue, into conflict: Conflict) async throws -> Ticket? {
        guard conflict.group != nil else { return nil }
        return try await decide(in: conflict.resource, id: conflict.id) { ledger in
            // Another process, or the user, may have decided it.
            guard try ledger.unlist(conflict.name) || conflict.name.isEmpty else { return nil }
            return try ledger.commit(value, into: conflict.told)
        }
    }

    /// Stores a decision about an entry of a record in one transaction.
    ///
    /// - Parameter body: returns the token of the edit that follows.
    private func decide(
        in resource: String, id: JSONValue, _ body: @escaping @Sendable (Ledger) throws -> String?
    ) async throws -> Ticket? {
        try await visit(resource, id)
        let made = try await write("decide") { ledger in
            try body(ledger).map { ($0, try ledger.ticketID($0)) }
        }
        await noteEdit()
        return made.map { Ticket(token: $0.0, id: $0.1, store: self) }
    }

    func dismiss(_ name: String) async throws { _ = try await write("dismiss") { try $0.unlist(name) } }

    // MARK: Unsent edits

    /// Returns the pushes that have no answer yet, in their order.
    public func unsent() async throws -> [UnsentEdit] {
        try await file.read { ledger in
            let pushes = try ledger.rows("SELECT seq FROM push WHERE state IN (0, 1) ORDER BY seq")
            return try pushes.map { try UnsentEdit($0[0], in: ledger, of: self) }
        }
    }

    func discardUnsent(_ push: Int64) async throws -> Bool {
        try await write("discard unsent") { ledger in
            let isFound = try ledger.discardUnsent(push)
            try ledger.endStays()
            return isFound
        }
    }

    // MARK: Refused edits

    /// Returns the refused edits that were neither sent again nor discarded.
    public func refusedEdits() async throws -> [RefusedEdit] {
        try await file.read { ledger in try ledger.refusals().map { try RefusedEdit($0, in: ledger, of: self) } }
    }

    func resend(_ push: Int64, without paths: [String]) async throws -> Bool {
        let isDone = try await write("resend") { ledger in
            guard let leftOut = try ledger.split(push, without: paths) else { return false }
            return try ledger.resend(push, leftOut: leftOut)
        }
        if isDone { tell(.edit) }
        return isDone
    }

    func discard(_ push: Int64) async throws -> Bool { try await write("discard") { try $0.discard(push) } }
}
