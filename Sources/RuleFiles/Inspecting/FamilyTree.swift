import MergeCore
import RecordStore

/// Decides which tables are resources, and which are parts of another table's records.
struct FamilyTree {
    /// The tables that become resources, by name.
    private(set) var roots: [InspectedTable] = []
    private var parts: [TableName: [(table: InspectedTable, link: TableLink)]] = [:]

    init(_ tables: [InspectedTable]) {
        let tables = tables.sorted { $0.name.description < $1.name.description }
        let lookups = LookupTables(tables)
        var links = Self.foreignKeyLinks(tables, lookups: lookups)
        let guess = LinkGuess(tables)
        let referenced = Self.referenced(tables)
        let guesses = tables.filter { !referenced.contains($0.name) }
            .compactMap { guess.link(of: $0) ?? (lookups.contains($0) ? nil : guess.oneToOne(of: $0)) }
            .filter { link in
                guard let parent = tables.first(where: { $0.name == link.parent }),
                    let child = tables.first(where: { $0.name == link.child })
                else { return false }
                return !lookups.isLookup(parent, for: child, by: link.columns.map(\.own))
            }
        // A record has only one level of parts, so a table with parts cannot be a part.
        let parents = Set((guesses + Array(links.values)).map(\.parent))
        for link in guesses where !parents.contains(link.child) && links[link.parent] == nil {
            links[link.child] = link
        }
        for table in tables {
            if let link = links[table.name] {
                parts[link.parent, default: []].append((table, link))
            } else {
                roots.append(table)
            }
        }
    }

    func parts(of root: InspectedTable) -> [(table: InspectedTable, link: TableLink)] { parts[root.name] ?? [] }

    /// Returns the tables that another table refers to.
    private static func referenced(_ tables: [InspectedTable]) -> Set<TableName> {
        var names: Set<TableName> = []
        for table in tables {
            for key in table.schema.foreignKeys {
                if let known = KnownForeignKey(key, of: table.schema, among: tables), known.target.name != table.name {
                    names.insert(known.target.name)
                }
            }
        }
        return names
    }

    private static func foreignKeyLinks(
        _ tables: [InspectedTable], lookups: LookupTables
    ) -> [TableName: TableLink] {
        let referenced = referenced(tables)
        var links: [TableName: TableLink] = [:]
        for table in tables where !referenced.contains(table.name) {
            guard let key = parentKey(of: table, tables),
                !lookups.isLookup(key.target, for: table, by: key.columns)
            else { continue }
            links[table.name] = TableLink(
                child: table.name, parent: key.target.name, columns: Array(zip(key.columns, key.targetColumns)),
                isSingleton: table.schema.isKey(key.columns), isGuess: false)
        }
        return links
    }

    /// Returns the foreign key that links the rows of a table to one record.
    ///
    /// It is never NULL. It is the one that equals the table's key, else the only one. Otherwise it refers to the table
    /// after which this table is named (`InvoiceLine` of Invoice and Track).
    private static func parentKey(of table: InspectedTable, _ tables: [InspectedTable]) -> KnownForeignKey? {
        var keys: [KnownForeignKey] = []
        for key in table.schema.foreignKeys {
            guard let known = KnownForeignKey(key, of: table.schema, among: tables), known.target.name != table.name,
                table.isFilled(known.columns),
                // Some schemas declare a foreign key twice.
                !keys.contains(where: { $0.columns == known.columns && $0.target.name == known.target.name })
            else { continue }
            keys.append(known)
        }
        let same = keys.filter { Set($0.columns) == Set(table.key) }
        let called =
            table.isJunction(of: keys.flatMap(\.columns)) ? [] : keys.filter { isCalled(table, after: $0.target) }
        let chosen = [same, keys, called].first { $0.count == 1 }?.first
        guard let key = chosen, key.refersToKey,
            key.columns.allSatisfy({
                table.schema.column($0).map { !$0.types.isEmpty && $0.serverOwned == nil } == true
            })
        else { return nil }
        return key
    }

    /// Returns true if a table's name begins with the singular of another name, even as one word (“orderdetails”).
    private static func isCalled(_ table: InspectedTable, after parent: InspectedTable) -> Bool {
        let name = NameWords(table.name.name).words.joined()
        return NameWords(parent.name.name).singulars.contains { singular in
            let start = singular.joined()
            return start.count > 2 && name.count > start.count && name.hasPrefix(start)
        }
    }
}
