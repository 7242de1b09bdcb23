import MergeCore
import RecordStore

/// Detects lookup tables, such as kinds, states and formats.
///
/// Rows that refer to a lookup table are not parts of it. Deleting a lookup row must not delete them.
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

    func contains(_ table: InspectedTable) -> Bool { names.contains(table.name) }

    /// Returns true if the parent is a lookup table and nothing shows that the child's rows belong to it.
    func isLookup(_ parent: InspectedTable, for child: InspectedTable, by columns: [String]) -> Bool {
        guard names.contains(parent.name) else { return false }
        let words = NameWords(child.name.name).words
        let isCalledAfter = NameWords(parent.name.name).singulars.union([NameWords(parent.name.name).words]).contains {
            words.count > $0.count && (words.starts(with: $0) || words.suffix($0.count) == $0[...])
        }
        // A row belongs to another row if its key begins with the other key.
        return !isCalledAfter && !(child.key.count > 1 && child.key.starts(with: columns))
    }
}
