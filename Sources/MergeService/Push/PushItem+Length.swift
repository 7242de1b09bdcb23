import MergeCore

extension PushItem {
    /// Bytes of a body that takes its time to read, to merge and to keep.
    static let longBody = 65_536
    /// Rows that take their time to write.
    private static let manyRows = 256

    /// It takes its time by itself, whatever its records are.
    var isLong: Bool {
        let edits = request.push.edits
        return request.sent.body.count > Self.longBody || edits.count > Self.manyRows
            || edits.reduce(0) { $0 + $1.rows.count } > Self.manyRows
    }

    /// Returns true where one of its records was long when it was read last.
    func namesLong(_ lengths: RecordLengths) -> Bool {
        request.push.edits.contains { edit in
            edit.id.key.map { lengths.long($0, of: edit.resource) != nil } ?? false
        }
    }
}
