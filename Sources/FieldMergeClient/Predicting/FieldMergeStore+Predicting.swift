import GRDB

extension FieldMergeStore {
    /// Returns the probable results of waiting edits of existing rows, in order.
    ///
    /// They are computed without a network, from the gateway's last data. Show them with an edit, but not as facts.
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
