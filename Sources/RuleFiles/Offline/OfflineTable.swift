import MergeCore
import RecordStore

/// A table as the rules and samples let it be guessed.
struct OfflineTable {
    /// A column with all that is known of it.
    private struct Column {
        var uses: [OfflineUse] = []
        var samples: [Scalar] = []
    }

    private var names: [String] = []
    private var columns: [String: Column] = [:]
    private var keys: [[String]] = []
    /// Of how many columns the key of a section is that names none.
    private var unnamedKeyCount: Int?
    private var unnamedKeySamples: [Int: [Scalar]] = [:]
    private var written: Set<String> = []

    /// Notes that a column is there.
    mutating func add(_ name: String, _ use: OfflineUse? = nil, holding samples: [Scalar] = []) {
        if columns[name] == nil { names.append(name) }
        var column = columns[name] ?? Column()
        if let use, !column.uses.contains(use) { column.uses.append(use) }
        column.samples += samples
        columns[name] = column
    }

    mutating func addKey(_ names: [String], _ section: SampleSection) {
        for (position, name) in names.enumerated() { add(name, holding: section.keyParts(position)) }
        if !keys.contains(names) { keys.append(names) }
    }

    /// A section that takes the table's primary key, whatever that is.
    mutating func addUnnamedKey(_ section: SampleSection) {
        let count = max(unnamedKeyCount ?? 1, section.keyCount ?? 1)
        unnamedKeyCount = count
        for position in 0..<count { unnamedKeySamples[position, default: []] += section.keyParts(position) }
    }

    /// Notes that clients write a column, which therefore is not a key that no section names.
    mutating func addWritten(_ name: String) { written.insert(name) }

    /// The table, with a key of its own making where a section names none.
    ///
    /// Every column can be left out, and all but the keys can be NULL. As nobody knows how strict the database is, a
    /// column can hold what is not of its type, as in SQLite.
    func schema(_ name: TableName) -> TableSchema {
        var table = self
        let primary = unnamedKeyCount.map { table.addPrimaryKey($0) } ?? keys.first ?? []
        let keyColumns = Set(table.keys.flatMap { $0 } + primary)
        let columns = table.names.map { column in
            table.column(column, isKey: keyColumns.contains(column))
        }
        return TableSchema(
            name: name, storage: StorageEngine("none", isTransactional: true), columns: columns,
            constraints: TableConstraints(
                primaryKey: primary,
                uniqueIndexes: table.keys.map { UniqueIndex(name: $0.joined(separator: "_"), columns: $0) }))
    }

    private mutating func addPrimaryKey(_ count: Int) -> [String] {
        let key = primaryKey(count)
        for (position, column) in key.enumerated() { add(column, holding: unnamedKeySamples[position] ?? []) }
        return key
    }

    private func primaryKey(_ count: Int) -> [String] {
        // What one section calls the key is the key of another of the same table, where it can be.
        if let named = keys.first(where: { $0.count == count && written.isDisjoint(with: $0) }) { return named }
        var stem = "id"
        while true {
            let key = count == 1 ? [stem] : (1...count).map { "\(stem)_\($0)" }
            if written.isDisjoint(with: key) { return key }
            stem = "_" + stem
        }
    }

    private func column(_ name: String, isKey: Bool) -> ColumnSchema {
        let column = columns[name] ?? Column()
        // A type that a rule names comes first, so that a rule that names none finds the same one.
        let uses = column.uses.filter(\.isNamed) + column.uses.filter { !$0.isNamed }
        var types: [ColumnType] = []
        for use in uses.isEmpty ? [.plain] : uses {
            let type = SampledType.type(for: use, holding: column.samples)
            if !types.contains(type) { types.append(type) }
        }
        return ColumnSchema(
            name: name, declared: DeclaredType(types.first?.name ?? "text", types: types, isLoose: !isKey),
            isNullable: !isKey, filling: ColumnFilling(hasDefault: true))
    }
}

extension OfflineUse {
    fileprivate var isNamed: Bool {
        if case .named = self { true } else { false }
    }
}
