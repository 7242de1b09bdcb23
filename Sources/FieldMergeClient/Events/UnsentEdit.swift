/// A push that has no answer yet.
public struct UnsentEdit: Sendable {
    /// The name of the entry, the same while the push waits.
    public let name: String
    /// The resource of its first edit.
    public let resource: String
    /// The id of its first edit's record.
    public let id: JSONValue
    /// The edits, as they are sent.
    public let edits: [RefusedEdit.Part]
    /// The state: `.draft`, or `.sending` if the gateway may have it.
    public let state: EditState
    let number: Int64
    let store: FieldMergeStore

    init(_ push: Int64, in ledger: Ledger, of store: FieldMergeStore) throws {
        let rules = try ledger.rules()
        let parts = try ledger.edits(of: push)
        number = push
        name = "\(push)"
        resource = parts.first?.resource ?? ""
        id = parts.first?.id ?? .null
        edits = parts.map { RefusedEdit.Part($0, rules) }
        let isSent = try ledger.state(of: push) == .sent || ledger.isUnstored(push)
        state = isSent ? .sending : .draft
        self.store = store
    }

    /// Removes the edit; later edits of the same groups get its `old`.
    ///
    /// The edits that use a row which it creates go with it.
    ///
    /// - Throws: `FieldMergeError.sending` if the gateway may have it.
    /// - Returns: false if it has its answer.
    @discardableResult
    public func discard() async throws -> Bool { try await store.discardUnsent(number) }
}
