import MergeCore
import RecordStore

/// Tells from names which table a column probably refers to, where the database has no foreign keys.
struct LinkGuess {
    private let tables: [InspectedTable]

    /// Names of keys that many tables have, so that they say nothing.
    private static let trivial: Set<String> = [
        "id", "key", "no", "nr", "code", "name", "number", "uid", "uuid", "guid",
    ]

    init(_ tables: [InspectedTable]) {
        self.tables = tables
    }

    /// The one link that the names of a table's columns suggest.
    func link(of table: InspectedTable) -> TableLink? {
        guard table.schema.foreignKeys.isEmpty else { return nil }
        let found = table.schema.columns.compactMap { column in
            target(of: column, in: table).map { (column, $0) }
        }
        // With two parents the table belongs to neither.
        guard found.count == 1, let (column, parent) = found.first, !column.isNullable, column.serverOwned == nil
        else { return nil }
        return TableLink(
            child: table.name, parent: parent.name, columns: [(column.name, parent.key[0])],
            isSingleton: table.schema.isKey([column.name]), isGuess: true)
    }

    /// The one table whose key the column seems to hold: it is called like that key, or like the table with “id”.
    func target(of column: ColumnSchema, in table: InspectedTable) -> InspectedTable? {
        let candidates = tables.filter { other in
            other.name != table.name && other.key.count == 1 && isNamed(column, for: other)
                && isSameType(column, other.schema.column(other.key[0]))
        }
        // Of “customers” and “customer_details”, both with the key customer_id, the first is meant.
        let bases = candidates.filter { base in
            candidates.allSatisfy { $0.name == base.name || isExtension($0, of: base) }
        }
        guard bases.count == 1, let base = bases.first else { return nil }
        // Two tables with the same key, neither called after the other, may be anything.
        if table.key == [column.name], !isExtension(table, of: base) { return nil }
        return base
    }

    private func isNamed(_ column: ColumnSchema, for table: InspectedTable) -> Bool {
        let name = column.name.lowercased()
        if name == table.key[0].lowercased() { return !Self.trivial.contains(name) }
        let words = NameWords(column.name).words
        return words.last == "id" && NameWords(table.name.name).singulars.contains(Array(words.dropLast()))
    }

    private func isSameType(_ column: ColumnSchema, _ other: ColumnSchema?) -> Bool {
        guard let type = column.types.first?.name else { return false }
        return type == other?.types.first?.name
    }

    /// Whether a table is called after another one, with something added.
    private func isExtension(_ table: InspectedTable, of base: InspectedTable) -> Bool {
        let words = NameWords(table.name.name).words
        return NameWords(base.name.name).singulars.contains { words.count > $0.count && words.starts(with: $0) }
    }
}
