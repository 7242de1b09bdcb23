import GRDB

extension FieldMergeStore {
    /// Returns what the gateway would probably make of the edits of existing rows that wait, in their order.
    ///
    /// Computed without a network, from what the gateway last told: shown beside an edit, never taken for the truth.
    public func predictions() async throws -> [Prediction] {
        try await file.read { try $0.predictions("p.state IN (0, 1)", []) }
    }

    /// The same for one record.
    public func predictions(_ resource: String, _ id: some RecordID) async throws -> [Prediction] {
        let id = id.jsonValue
        return try await file.read { ledger in
            let key = try ledger.resolve(id).key
            return try ledger.predictions("e.resource = ? AND e.key = ? AND p.state IN (0, 1)", [resource, key])
        }
    }
}
