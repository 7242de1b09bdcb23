package import MergeCore

/// Where the engines' SQL differs.
package enum Dialect: Sendable, Hashable {
    case mariadb
    case sqlite

    /// An identifier in quotes, whatever characters it has.
    package func quoted(_ name: String) -> String {
        switch self {
        case .mariadb: "`" + doubling(name, "`") + "`"
        case .sqlite: "\"" + doubling(name, "\"") + "\""
        }
    }

    /// Returns the table's name, and its schema's before it, in quotes.
    package func quoted(_ table: TableName) -> String {
        (table.schema.map { quoted($0) + "." } ?? "") + quoted(table.name)
    }

    private func doubling(_ name: String, _ mark: Character) -> String {
        guard let byte = mark.asciiValue, name.utf8.contains(byte) else { return name }
        var out = ""
        for character in name {
            out.append(character)
            if character == mark { out.append(mark) }
        }
        return out
    }

    /// The clause that makes a SELECT lock its rows.
    ///
    /// SQLite's write transaction has the whole file to itself.
    package var lockingClause: String {
        switch self {
        case .mariadb: " FOR UPDATE"
        case .sqlite: ""
        }
    }

    /// The same, failing at once where another transaction holds one of them.
    package var impatientLockingClause: String {
        switch self {
        case .mariadb: " FOR UPDATE NOWAIT"
        case .sqlite: ""
        }
    }

    /// An INSERT of nothing but defaults.
    package var defaultRow: String {
        switch self {
        case .mariadb: " () VALUES ()"
        case .sqlite: " DEFAULT VALUES"
        }
    }
}
