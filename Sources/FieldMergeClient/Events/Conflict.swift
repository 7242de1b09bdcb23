/// A group or row that two edits changed: `old` is the user's base, `current` the value of the other edit, `new` the user's
/// value, and `written` the value in the database.
public struct Conflict: Sendable {
    /// The name of the entry in `store.conflicts()` and in its event; empty for a ticket of an earlier version.
    public let name: String
    /// The kind: an answer of the gateway, or an edit without an answer that was overtaken.
    public let kind: ConflictKind
    /// The name of the resource.
    public let resource: String
    /// The id of the record.
    public let id: JSONValue
    /// The name of the section.
    public let section: String
    /// The id of the item; nil outside lists.
    public let item: JSONValue?
    /// The name of the group; nil for the complete row.
    public let group: String?
    /// The gateway's outcome for the group, such as `client-won`; empty before there is an answer.
    public let outcome: String
    /// The value before the user's edit.
    public let old: JSONValue
    /// The value of the database before this edit.
    public let current: JSONValue
    /// The value of the user's edit.
    public let new: JSONValue
    /// The value that the database contains now; null before there is an answer.
    public let written: JSONValue
    /// The author of `current`; null if the journal has none.
    public let by: JSONValue
    /// The places at which a merge function had to choose a side; null if there are none.
    public let parts: JSONValue
    let told: JSONValue
    let store: FieldMergeStore

    init(_ told: JSONValue, kind: ConflictKind = .conflict, _ store: FieldMergeStore) {
        name = told["name"].stringValue ?? ""
        self.kind = kind
        resource = told["resource"].stringValue ?? ""
        id = told["id"]
        section = told["section"].stringValue ?? ""
        item = told["item"].nonNull
        group = told["group"].stringValue
        outcome = told["outcome"].stringValue ?? ""
        old = told["old"]
        current = told["current"]
        new = told["new"]
        written = told["written"]
        by = told["by"]
        parts = told["parts"]
        self.told = told
        self.store = store
    }

    /// Writes `new` again, with the database's current value as its base, and removes the entry from the list.
    ///
    /// An overtaken edit keeps its value, and `current` becomes its base.
    ///
    /// - Returns: the ticket of a new edit; nil if there is none, or the entry has left the list.
    @discardableResult
    public func takeMine() async throws -> Ticket? { try await store.decide(self, isMine: true) }

    /// Calls `takeMine()`; the name fits an overtaken edit.
    @discardableResult
    public func keepMine() async throws -> Ticket? { try await takeMine() }

    /// Writes `current` unless the database has it, and removes the entry from the list.
    ///
    /// - Returns: the ticket of a new edit; nil if there is none, or the entry has left the list.
    @discardableResult
    public func takeTheirs() async throws -> Ticket? { try await store.decide(self, isMine: false) }

    /// Removes the entry from the list, and changes nothing else.
    public func dismiss() async throws { try await store.dismiss(name) }
}

/// An unsent edit of a group that another client has changed since.
public struct Overtaken: Sendable {
    /// The name of the entry in `store.conflicts()`; empty for an open form, whose events are not listed.
    public let name: String
    /// The open form that the edit is made in; nil for an edit that is stored.
    public let draft: RecordDraft?
    /// The name of the resource.
    public let resource: String
    /// The id of the record.
    public let id: JSONValue
    /// The name of the section.
    public let section: String
    /// The id of the item; nil outside lists.
    public let item: JSONValue?
    /// The name of the group.
    public let group: String
    /// The value before the user's edit.
    public let old: JSONValue
    /// The value of the database before this edit.
    public let current: JSONValue
    /// The value of the user's edit.
    public let new: JSONValue
    /// The client that changed it; null if the gateway does not report one.
    public let by: JSONValue
    let told: JSONValue
    let store: FieldMergeStore

    init(_ told: JSONValue, _ store: FieldMergeStore) {
        name = told["name"].stringValue ?? ""
        draft = told["draft"].stringValue.flatMap(store.openDraft)
        resource = told["resource"].stringValue ?? ""
        id = told["id"]
        section = told["section"].stringValue ?? ""
        item = told["item"].nonNull
        group = told["group"].stringValue ?? ""
        old = told["old"]
        current = told["current"]
        new = told["new"]
        by = told["by"]
        self.told = told
        self.store = store
    }

    /// Keeps the edit, with `current` as its base, so that it causes no conflict.
    ///
    /// If the edit was sent meanwhile, this writes `new` in a new edit.
    ///
    /// - Throws: `FieldMergeError` if the store is closed or the record is gone.
    public func keepMine() async throws { try await store.decide(self, isMine: true) }

    /// Drops the edit of this group.
    ///
    /// If the edit was sent meanwhile, this writes `current` in a new edit.
    ///
    /// - Throws: `FieldMergeError` if the store is closed or the record is gone.
    public func takeTheirs() async throws { try await store.decide(self, isMine: false) }

    /// Removes the entry from the list, and changes nothing else.
    public func dismiss() async throws { try await store.dismiss(name) }
}

/// A record that was deleted, or that this client may no longer read.
///
/// Its drafts become refused edits.
public struct Gone: Sendable, Hashable {
    /// The name of the resource.
    public let resource: String
    /// The id of the record.
    public let id: JSONValue

    init(_ told: JSONValue) {
        resource = told["resource"].stringValue ?? ""
        id = told["id"]
    }
}
