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

    /// Records that none of the `tmp:` ids that a push creates has a row.
    package mutating func noteNoRows(_ created: [TemporaryID: Section]) { note(created, rows: [:]) }

    /// Records the rows of the `tmp:` ids that a push creates; negative ids are valid in one push only.
    package mutating func note(_ created: [TemporaryID: Section], in result: PushResult) {
        var rows: [TemporaryID: Row] = [:]
        for edit in result.results {
            for id in edit.ids ?? [] {
                rows[id.temporary] = Row(table: edit.resource.sections[id.section].table, key: id.key)
            }
        }
        note(created, rows: rows)
    }

    /// Records the rows of the `tmp:` ids that a push created when its answer was stored.
    package mutating func note(_ created: [TemporaryID: Section], inStored answer: [UInt8]) {
        let rows = JSONDocument.stored(answer) { root in
            var rows: [TemporaryID: Row] = [:]
            for (name, node) in (root["results"]?.elements ?? []).flatMap({ $0["ids"]?.members ?? [] }) {
                let id = TemporaryID(name.string)
                guard let section = created[id], let key = EntryReader.key(node, section) else { continue }
                rows[id] = Row(table: section.table, key: key)
            }
            return rows
        }
        note(created, rows: rows ?? [:])
    }

    private mutating func note(_ created: [TemporaryID: Section], rows found: [TemporaryID: Row]) {
        for id in created.keys where id.isMarked {
            rows[id] = found[id]
            if found[id] == nil { refused.insert(id) } else { refused.remove(id) }
        }
    }

    /// Returns the key of a row that an earlier push created in a table, or in any table if nil.
    func key(_ id: TemporaryID, in table: TableName?) -> RecordKey? {
        guard let row = rows[id], table == nil || row.table == table else { return nil }
        return row.key
    }

    /// The ids of rows that an earlier push failed to create.
    package var refusedIDs: Set<TemporaryID> { refused }
}
