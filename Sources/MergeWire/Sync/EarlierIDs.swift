package import MergeCore

/// The temporary ids of the pushes before, in one request: the rows that they stand for, and those that were never made.
package struct EarlierIDs: Sendable {
    /// A row that a push created.
    struct Row: Sendable {
        let table: TableName
        let key: RecordKey
    }

    private var rows: [TemporaryID: Row] = [:]
    private var refused: Set<TemporaryID> = []

    /// Knows of no push before.
    package init() {}

    /// Notes what became of the ids that a push creates; numbers are each push's own.
    ///
    /// - Parameters:
    ///   - created: the ids that it creates, each with the section of its row.
    ///   - answer: the answer as JSON, new or told again; nil where it has no result.
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

    /// Returns the key of a row of a table that an earlier push created under a temporary id; nil where none did.
    ///
    /// - Parameter table: nil for that of any row.
    func key(_ id: TemporaryID, in table: TableName?) -> RecordKey? {
        guard let row = rows[id], table == nil || row.table == table else { return nil }
        return row.key
    }

    /// The ids of rows that an earlier push would have created, and did not.
    package var refusedIDs: Set<TemporaryID> { refused }
}
