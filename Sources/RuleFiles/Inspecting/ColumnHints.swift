import MergeCore
import RecordStore

/// Questions to the operator about a column, from its type and its name.
enum ColumnHints {
    private static let switchWords: Set<String> = [
        "is", "has", "active", "enabled", "disabled", "visible", "hidden", "deleted", "flag", "yn", "allowed", "locked",
        "blocked", "public", "default", "published", "confirmed", "approved", "newsletter", "optin",
    ]
    private static let pairs: [(yes: String, no: String)] = [
        ("y", "n"), ("yes", "no"), ("true", "false"), ("t", "f"), ("on", "off"), ("1", "0"), ("j", "n"), ("ja", "nein"),
    ]
    private static let changeWords: Set<String> = ["modified", "updated", "changed", "lastupdate", "lastmodified"]

    /// Returns the question, if any.
    ///
    /// - Parameter isItem: true for a column of a list.
    static func hint(of column: ColumnSchema, isItem: Bool) -> String? {
        if isItem, column.isBlob {
            return
                "a BLOB in a list: each record contains the bytes of all its rows. Give the table a file of its own, or "
                + "leave the column out"
        }
        if let values = values(of: column) {
            return
                "perhaps a boolean; if so, write {column: \(YAMLText.scalar(column.name)), type: boolean, values: \(values)}"
        }
        if isChangeTime(column) {
            return
                "does every program set it? If so, make it read-only and write “stamp: {\(column.name): now}”, which is UTC"
        }
        return nil
    }

    /// Returns the stored values of a column that seems to be a boolean.
    private static func values(of column: ColumnSchema) -> String? {
        switch column.types.first {
        case .enumeration(let members) where members.count == 2:
            let texts = members.map(\.string)
            for (yes, no) in pairs {
                guard let stored = texts.first(where: { $0.lowercased() == yes }),
                    let other = texts.first(where: { $0.lowercased() == no })
                else { continue }
                return text(yes: stored, no: other)
            }
            return nil
        case .text(let text) where text.maximumCharacters == 1:
            return NameWords(column.name).words.contains(where: switchWords.contains)
                ? Self.text(yes: "Y", no: "N") : nil
        default: return nil
        }
    }

    private static func text(yes: String, no: String) -> String {
        "{\"true\": \"\(yes)\", \"false\": \"\(no)\"}"
    }

    /// Returns true for a time of the last change that the database does not set itself.
    private static func isChangeTime(_ column: ColumnSchema) -> Bool {
        switch column.types.first {
        case .dateTime, .timestamp:
            !column.isStamped && NameWords(column.name).words.contains(where: changeWords.contains)
        default: false
        }
    }
}

extension ColumnSchema {
    fileprivate var isBlob: Bool {
        if case .bytes = types.first { true } else { false }
    }
}
