import MergeCore

/// What a table's foreign keys do if the row that they refer to is deleted or changes, as `SHOW CREATE TABLE` tells.
struct ReferentialActions {
    private let onDelete: [String: Cascade.Effect]
    private let onUpdate: [String: Cascade.Effect]

    /// - Parameter definition: one line for each column, index and constraint; the server escapes line breaks in texts.
    init(definition: String) {
        var onDelete: [String: Cascade.Effect] = [:]
        var onUpdate: [String: Cascade.Effect] = [:]
        // Byte by byte, because a name may begin with a mark that Swift takes for part of the backquote before it.
        for line in definition.utf8.split(separator: UInt8(ascii: "\n")) {
            // Names stand in the odd places, each backquote within one doubled, which makes an empty place between two.
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

    /// Returns what becomes of this table's rows if the row that they refer to is deleted; nil if nothing does.
    func onDelete(_ key: String) -> Cascade.Effect? { onDelete[key] }

    /// Returns what becomes of this table's rows if the columns that they refer to change; nil if nothing does.
    func onUpdate(_ key: String) -> Cascade.Effect? { onUpdate[key] }
}
