import MergeCore

extension PushItem {
    static let longBody = 65_536
    private static let manyRows = 256

    /// True if the push is long, whatever the size of its records.
    var isLong: Bool {
        let edits = request.push.edits
        return request.sent.body.count > Self.longBody || edits.count > Self.manyRows
            || edits.reduce(0) { $0 + $1.rows.count } > Self.manyRows
    }

    /// Returns true if one of the push's records was long at its last read.
    func namesLong(_ lengths: RecordLengths) -> Bool {
        request.push.edits.contains { edit in
            edit.id.key.map { lengths.long($0, of: edit.resource) != nil } ?? false
        }
    }
}
