import MergeCore

/// The effects of a table's foreign keys where the row goes that they refer to, as `SHOW CREATE TABLE` tells.
struct DeleteRules {
    private let effects: [String: Cascade.Effect]

    /// - Parameter definition: one line for each column, index and constraint; the server escapes line breaks in texts.
    init(definition: String) {
        var effects: [String: Cascade.Effect] = [:]
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
                effects[name] = .delete
            } else if end.contains(" ON DELETE SET NULL") {
                effects[name] = .setNull
            }
        }
        self.effects = effects
    }

    /// Returns what becomes of the rows of this table; nil where the key keeps the row that it refers to.
    func effect(of key: String) -> Cascade.Effect? { effects[key] }
}
