import MergeCore
import RecordStore

/// Guesses from names which table a column refers to, for databases without foreign keys.
struct LinkGuess {
    /// The tables by the lower-case name of their key, and by their own name in the singular.
    private var byKey: [String: [InspectedTable]] = [:]
    private var byName: [[String]: [InspectedTable]] = [:]

    /// Names of keys that are too common to be useful.
    private static let trivial: Set<String> = [
        "id", "key", "no", "nr", "code", "name", "number", "uid", "uuid", "guid",
    ]

    private let tables: [InspectedTable]

    init(_ tables: [InspectedTable]) {
        self.tables = tables
        for table in tables where table.key.count == 1 {
            let key = table.key[0].lowercased()
            if !Self.trivial.contains(key) { byKey[key, default: []].append(table) }
            for name in NameWords(table.name.name).singulars { byName[name, default: []].append(table) }
        }
    }

    /// Returns the only link that the names of a table's columns suggest.
    ///
    /// If there are several, it is the link to the table after which this table is named.
    func link(of table: InspectedTable) -> TableLink? {
        guard table.schema.foreignKeys.isEmpty else { return nil }
        let found = table.schema.columns.compactMap { column in
            target(of: column, in: table).map { (column, $0) }
        }
        // With two parents the table belongs to neither, unless it is named after one of them.
        let called = table.isJunction(of: found.map(\.0.name)) ? [] : found.filter { isExtension(table, of: $0.1) }
        guard let (column, parent) = [found, called].first(where: { $0.count == 1 })?.first, !column.isNullable,
            column.serverOwned == nil
        else { return nil }
        return TableLink(
            child: table.name, parent: parent.name, columns: [(column.name, parent.key[0])],
            isSingleton: table.schema.isKey([column.name]), isGuess: true)
    }

    /// Returns the only link to another table with an equal key, after which this table is named.
    ///
    /// The keys have the same names, or this table's key is its own name with “id” (`customer_info_id`) and the database
    /// does not number it.
    func oneToOne(of table: InspectedTable) -> TableLink? {
        guard table.schema.foreignKeys.isEmpty else { return nil }
        let bases = tables.filter { base in
            base.name != table.name && base.key.count == table.key.count && isExtension(table, of: base)
                && zip(table.key, base.key).allSatisfy { own, other in
                    table.schema.column(own).map { isSameType($0, other: base.schema.column(other)) } ?? false
                } && hasKey(of: base, table)
        }
        guard let base = bases.max(by: { $0.name.name.count < $1.name.name.count }) else { return nil }
        return TableLink(
            child: table.name, parent: base.name, columns: Array(zip(table.key, base.key)), isSingleton: true,
            isGuess: true)
    }

    private func hasKey(of base: InspectedTable, _ table: InspectedTable) -> Bool {
        if table.key.map({ $0.lowercased() }) == base.key.map({ $0.lowercased() }) { return true }
        guard table.key.count == 1, let column = table.schema.column(table.key[0]), !column.isAutoIncrement else {
            return false
        }
        let words = NameWords(column.name).words
        return words.last == "id" && NameWords(table.name.name).singulars.contains(Array(words.dropLast()))
            && base.schema.column(base.key[0])?.isAutoIncrement == true
    }

    /// Returns the only table whose key the column seems to contain.
    ///
    /// The column has the name of the key, or the name of the table with “id”.
    func target(of column: ColumnSchema, in table: InspectedTable) -> InspectedTable? {
        var candidates: [InspectedTable] = []
        for other in named(column)
        where other.name != table.name && isSameType(column, other: other.schema.column(other.key[0]))
            && !candidates.contains(where: { $0.name == other.name })
        {
            candidates.append(other)
        }
        // Of “customers” and “customer_details”, both with the key customer_id, the first is the target.
        let bases = candidates.filter { base in
            candidates.allSatisfy { $0.name == base.name || isExtension($0, of: base) }
        }
        guard bases.count == 1, let base = bases.first else { return nil }
        // Two tables with equal keys and unrelated names may be independent.
        if table.key == [column.name], !isExtension(table, of: base) { return nil }
        return base
    }

    private func named(_ column: ColumnSchema) -> [InspectedTable] {
        let words = NameWords(column.name).words
        let byName = words.last == "id" ? byName[Array(words.dropLast())] : nil
        return (byKey[column.name.lowercased()] ?? []) + (byName ?? [])
    }

    private func isSameType(_ column: ColumnSchema, other: ColumnSchema?) -> Bool {
        guard let type = column.types.first?.name else { return false }
        return type == other?.types.first?.name
    }

    /// Returns true if a table's name begins with another table's name.
    private func isExtension(_ table: InspectedTable, of base: InspectedTable) -> Bool {
        let words = NameWords(table.name.name).words
        return NameWords(base.name.name).singulars.contains { words.count > $0.count && words.starts(with: $0) }
    }
}
