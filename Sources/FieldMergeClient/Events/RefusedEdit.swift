/// An edit that was refused for good.
///
/// It survives a restart, and blocks no other.
public struct RefusedEdit: Sendable {
    /// The name of the entry, the same while it is refused.
    public let name: String
    /// The resource of the edit at fault.
    public let resource: String
    /// The id of the record that was at fault.
    public let id: JSONValue
    /// The record in the database; nil if there is none.
    public let record: Record?
    /// The problem document with the reason.
    public let problem: JSONValue
    /// The paths of the groups that the refusal names, for `resend(without:)`; empty if it names none.
    public let faulty: [String]
    /// Every part of the edit; the database contains none of them.
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

        init(_ edit: Ledger.StoredEdit, _ rules: Rules?) {
            resource = edit.resource
            id = edit.id
            // An edit that was made under rules with other names has those names.
            let present = rules?.resources[edit.resource].flatMap(edit.changes.changeset)
            changeset = .object(present ?? edit.changes.storedChangeset)
        }
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
        edits = refusal.edits.map { Part($0, isOfOldRules ? nil : rules) }
        faulty =
            refusal.told["faulty"].arrayValue?.compactMap(\.stringValue).filter { path in
                // An entry of a part has the problem of the whole.
                guard let known = rules?.resources[fault?.resource ?? ""], let path = try? PartPath(path, of: known)
                else {
                    return false
                }
                return refusal.edits.contains {
                    $0.changes.rows.contains { path.divide($0, known.section(named: $0.section)).left != nil }
                }
            } ?? []
        name = "\(refusal.push)"
        number = refusal.push
        self.store = store
    }

    /// Appends the edit to the queue under a new key.
    ///
    /// - Parameter paths: the parts to keep refused: `section`, `section.group`, `list[ID]`, `list[ID].group`; ID is JSON.
    ///   `resend(without: entry.faulty)` sends all parts that the refusal does not name.
    /// - Throws: `InvalidEdit` for an unknown path, `FieldMergeError.nothingLeft` if the paths name everything.
    /// - Returns: false if it is refused no more.
    @discardableResult
    public func resend(without paths: [String] = []) async throws -> Bool {
        try await store.resend(number, without: paths)
    }

    /// Opens a form of the current record with the values of the edit.
    ///
    /// A save of the form removes the entry from the list.
    ///
    /// - Throws: `FieldMergeError.severalRecords` for an edit of several records.
    public func restore() async throws -> RecordDraft { try await store.restore(number) }

    /// Gives the edit up.
    ///
    /// - Returns: false if it is refused no more.
    @discardableResult
    public func discard() async throws -> Bool { try await store.discard(number) }
}
