import MergeCore

/// The actions of a table's foreign keys if the target row is deleted or changes, from `SHOW CREATE TABLE`.
struct ReferentialActions {
    private let onDelete: [String: Cascade.Effect]
    private let onUpdate: [String: Cascade.Effect]

    /// - Parameter definition: one line for each column, index and constraint; the server escapes line breaks in texts.
    init(definition: String) {
        var onDelete: [String: Cascade.Effect] = [:]
        var onUpdate: [String: Cascade.Effect] = [:]
        // Split by bytes, because Swift may join a backquote and the first mark of a name into one character.
        for line in definition.utf8.split(separator: UInt8(ascii: "\n")) {
            // Names have odd positions. A backquote in a name is doubled, so that an empty part follows.
            let parts = line.split(separator: UInt8(ascii: "`"), omittingEmptySubsequences: false).map {
                String(Substring($0))
            }
            guard parts.count > 2, parts[0].drop(while: { $0 == " " }) == "CONSTRAINT " else { continue }
            var name = parts[1]
            var index = 2
            while index + 1 < parts.count, parts[index].isEmpty {
                name += "`" + parts[index + 1]
                index += 2
            }
            guard parts[index].hasPrefix(" FOREIGN KEY"), let end = parts.last else { continue }
            if end.contains(" ON DELETE CASCADE") {
                onDelete[name] = .delete
            } else if end.contains(" ON DELETE SET NULL") {
                onDelete[name] = .setNull
            }
            if end.contains(" ON UPDATE CASCADE") {
                onUpdate[name] = .update
            } else if end.contains(" ON UPDATE SET NULL") {
                onUpdate[name] = .setNull
            }
        }
        self.onDelete = onDelete
        self.onUpdate = onUpdate
    }

    /// Returns the action on this table's rows if their target row is deleted; nil if there is none.
    func onDelete(_ key: String) -> Cascade.Effect? { onDelete[key] }

    /// Returns the action on this table's rows if their target columns change; nil if there is none.
    func onUpdate(_ key: String) -> Cascade.Effect? { onUpdate[key] }
}
