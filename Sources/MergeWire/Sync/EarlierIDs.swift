package import MergeCore

/// The temporary ids of earlier pushes of one request, with their rows if these were created.
package struct EarlierIDs: Sendable {
    struct Row: Sendable {
        let table: TableName
        let key: RecordKey
    }

    private var rows: [TemporaryID: Row] = [:]
    private var refused: Set<TemporaryID> = []

    /// Creates an empty value, for a first push.
    package init() {}

    /// Records the results of the `tmp:` ids that a push creates; negative ids are valid in one push only.
    ///
    /// - Parameter answer: The new or stored answer as JSON, or nil if there is no result.
    package mutating func note(_ created: [TemporaryID: Section], answer: [UInt8]?) {
        let keys = answer.map { Self.keys(in: $0, created) } ?? [:]
        for (id, section) in created where id.isMarked {
            if let key = keys[id] {
                rows[id] = Row(table: section.table, key: key)
                refused.remove(id)
            } else {
                rows[id] = nil
                refused.insert(id)
            }
        }
    }

    private static func keys(in answer: [UInt8], _ created: [TemporaryID: Section]) -> [TemporaryID: RecordKey] {
        let found = try? answer.withUnsafeBytes { bytes throws(Problem) in
            try JSONDocument.parse(bytes, maximumDepth: 2_000) { root throws(Problem) in
                var keys: [TemporaryID: RecordKey] = [:]
                for result in root["results"]?.elements ?? [] {
                    for (name, node) in result["ids"]?.members ?? [] {
                        let id = TemporaryID(name.string)
                        keys[id] = created[id].flatMap { EntryReader.key(node, $0) }
                    }
                }
                return keys
            }
        }
        return found ?? [:]
    }

    /// Returns the key of a row that an earlier push created in a table, or in any table if nil.
    func key(_ id: TemporaryID, in table: TableName?) -> RecordKey? {
        guard let row = rows[id], table == nil || row.table == table else { return nil }
        return row.key
    }

    /// The ids of rows that an earlier push failed to create.
    package var refusedIDs: Set<TemporaryID> { refused }
}
