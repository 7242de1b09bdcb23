import MergeCore
import RecordStore

/// Tells tables that others only look something up in, such as kinds, states and formats: rows that refer to one of
/// these are not parts of it, and deleting it must not delete them.
struct LookupTables {
    private let names: Set<TableName>

    private static let words: Set<String> = [
        "type", "kind", "status", "state", "category", "class", "group", "format", "method", "mode", "role", "level",
        "language", "currency", "country", "region", "zone", "city", "unit", "code", "genre", "media", "tax",
        "priority",
        "reason", "color", "colour", "size", "season", "title", "gender", "option", "setting", "lookup",
    ]

    init(_ tables: [InspectedTable]) {
        names = Set(
            tables.filter { table in
                NameWords(table.name.name).singulars.compactMap(\.last).contains(where: Self.words.contains)
            }.map(\.name))
    }

    /// Returns true where the rows of a table that refer to another are no parts of it: it is a lookup, and nothing says
    /// that they belong to it.
    func isLookup(_ parent: InspectedTable, for child: InspectedTable, by columns: [String]) -> Bool {
        guard names.contains(parent.name) else { return false }
        let words = NameWords(child.name.name).words
        let isCalledAfter = NameWords(parent.name.name).singulars.union([NameWords(parent.name.name).words]).contains {
            words.count > $0.count && (words.starts(with: $0) || words.suffix($0.count) == $0[...])
        }
        // A row whose key begins with that of another is one of its rows.
        return !isCalledAfter && !(child.key.count > 1 && child.key.starts(with: columns))
    }
}
