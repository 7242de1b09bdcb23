import MergeCore
import RecordStore

/// The role of a section's column for clients.
enum ColumnRole {
    /// The column is part of the id, or comes from the record.
    case implied
    case writable
    /// The reason why clients can only read the column.
    case readOnly(String)
    /// The reason why clients cannot read the column.
    case leftOut(String)

    init(_ column: ColumnSchema, key: [String], parents: [String]) {
        if key.contains(column.name) || parents.contains(column.name) {
            self = .implied
        } else if column.types.isEmpty {
            self = .leftOut(Self.missingType(column))
        } else if let reason = column.serverOwned {
            self = .readOnly(reason)
        } else if column.isAutoIncrement {
            self = .readOnly("the database numbers it")
        } else if Self.isStamp(column) {
            self = .readOnly("proposed: by its name and its default, something else than clients sets it")
        } else {
            self = .writable
        }
    }

    private static func missingType(_ column: ColumnSchema) -> String {
        let reason =
            column.explicitTypes.isEmpty
            ? "its type \(column.declaredType) is not supported yet"
            : "its declared type is unknown; to use it, give it a “type”"
        return column.isNullable || column.hasDefault
            ? reason : reason + "; it is NOT NULL without a default, so no client can create a row"
    }

    private static let stampWords: Set<String> = [
        "modified", "updated", "changed", "created", "update", "create", "modification", "creation", "lastupdate",
        "lastmodified",
    ]

    /// Returns true for a timestamp with a default that is not NULL and with the name of a time of change.
    private static func isStamp(_ column: ColumnSchema) -> Bool {
        guard column.hasDefault, !column.isNullable else { return false }
        switch column.types.first {
        case .dateTime, .timestamp: return NameWords(column.name).words.contains(where: stampWords.contains)
        default: return false
        }
    }
}
