/// A place where two edits met: what was held as `old`, what stood there, what was sent, and what stands now.
public struct Conflict: Sendable {
    /// The name of the resource.
    public let resource: String
    /// The id of the record.
    public let id: JSONValue
    /// The name of the section.
    public let section: String
    /// The id of the item; nil where it is no item of a list.
    public let item: JSONValue?
    /// The name of the group; nil where the whole row is meant.
    public let group: String?
    /// The gateway's word for what it did, such as `client-won`.
    public let outcome: String
    /// The value that this user saw when she began.
    public let old: JSONValue
    /// The value that stood there, written by somebody else.
    public let current: JSONValue
    /// The value that this user wants.
    public let new: JSONValue
    /// The value that stands now.
    public let written: JSONValue
    /// The one who wrote what stood there; null where the gateway does not know.
    public let by: JSONValue
    /// The places at which a merge function had to choose a side; null where there are none.
    public let parts: JSONValue
    let store: FieldMergeStore

    init(_ told: JSONValue, _ store: FieldMergeStore) {
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
        self.store = store
    }

    /// Makes the losing edit once more, from what stands now.
    ///
    /// - Returns: its ticket; nil where there is nothing to do.
    @discardableResult
    public func takeMine() async throws -> Ticket? { try await store.takeMine(self) }
}

/// An edit that was not sent yet, of a group that somebody else has changed meanwhile.
public struct Overtaken: Sendable {
    /// The name of the resource.
    public let resource: String
    /// The id of the record.
    public let id: JSONValue
    /// The name of the section.
    public let section: String
    /// The id of the item; nil where it is no item of a list.
    public let item: JSONValue?
    /// The name of the group.
    public let group: String
    /// The value that this user saw when she began.
    public let old: JSONValue
    /// The value that stands there now, written by somebody else.
    public let current: JSONValue
    /// The value that this user wants.
    public let new: JSONValue
    /// The one who changed it; null where the gateway does not know.
    public let by: JSONValue
    let told: JSONValue
    let store: FieldMergeStore

    init(_ told: JSONValue, _ store: FieldMergeStore) {
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

    /// Takes what stands now as seen: the edit will be made from there, without a conflict.
    ///
    /// Where it was sent meanwhile, `new` is a new edit, from what stands then.
    ///
    /// - Throws: `FieldMergeError` where the store is closed or the record is gone.
    public func keepMine() async throws { try await store.settle(self, keeps: true) }

    /// Drops the edit of this group.
    ///
    /// Where it was sent meanwhile, `current` is a new edit, from what stands then.
    ///
    /// - Throws: `FieldMergeError` where the store is closed or the record is gone.
    public func takeTheirs() async throws { try await store.settle(self, keeps: false) }
}

/// A record that is null for this client from now on; its drafts are refused edits.
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
