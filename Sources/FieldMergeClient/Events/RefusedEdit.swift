/// An edit that was refused for good.
///
/// It survives a restart, and blocks no other.
public struct RefusedEdit: Sendable {
    /// The resource of what was at fault.
    public let resource: String
    /// The id of the record that was at fault.
    public let id: JSONValue
    /// The true record; nil where there is none.
    public let record: Record?
    /// The problem document that says why.
    public let problem: JSONValue
    /// Every part of the edit, as it was to be sent; nothing of it was written.
    public let edits: [Part]
    let number: Int64
    let store: FieldMergeStore

    /// One record's part of a refused edit.
    public struct Part: Sendable {
        /// The name of the resource.
        public let resource: String
        /// The id of the record.
        public let id: JSONValue
        /// The changes, as the wire has them.
        public let changeset: JSONValue
    }

    init(_ refusal: Ledger.Refusal, in ledger: Ledger, of store: FieldMergeStore) throws {
        let rules = try ledger.rules()
        let place = refusal.told["fault"].intValue
        let fault = refusal.edits.first { $0.place == place } ?? refusal.edits.first
        resource = fault?.resource ?? ""
        id = fault?.id ?? .null
        var record = refusal.told["record"].objectValue
        if record == nil, let fault { record = try ledger.base(fault.record) }
        self.record = record.map { Record($0, rules?.resources[fault?.resource ?? ""]) }
        problem = refusal.told["problem"]
        let isOfOldRules = problem["code"] == "field-removed"
        edits = refusal.edits.map { edit in
            let present = isOfOldRules ? nil : rules?.resources[edit.resource].flatMap(edit.changes.changeset)
            // An edit that was made under rules with other names has those.
            let changeset = present ?? edit.changes.storedChangeset
            return Part(resource: edit.resource, id: edit.id, changeset: .object(changeset))
        }
        number = refusal.push
        self.store = store
    }

    /// Puts the edit behind the others that wait to be sent, under a new key.
    ///
    /// - Returns: false where it is refused no more.
    @discardableResult
    public func resend() async throws -> Bool { try await store.resend(number) }

    /// Gives the edit up.
    ///
    /// - Returns: false where it is refused no more.
    @discardableResult
    public func discard() async throws -> Bool { try await store.discard(number) }
}
