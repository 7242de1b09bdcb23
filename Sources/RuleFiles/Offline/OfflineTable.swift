import MergeCore
import RecordStore

/// A table that is guessed from rules and samples.
struct OfflineTable {
    /// The facts about a column.
    private struct Column {
        var uses: [OfflineUse] = []
        var samples: [Scalar] = []
    }

    private var names: [String] = []
    private var columns: [String: Column] = [:]
    private var keys: [[String]] = []
    /// The number of columns in the key, if a section names none.
    private var unnamedKeyCount: Int?
    private var unnamedKeySamples: [Int: [Scalar]] = [:]
    private var written: Set<String> = []

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

    /// Adds a section that uses the table's primary key, whose columns are unknown.
    mutating func addUnnamedKey(_ section: SampleSection) {
        let count = max(unnamedKeyCount ?? 1, section.keyCount ?? 1)
        unnamedKeyCount = count
        for position in 0..<count { unnamedKeySamples[position, default: []] += section.keyParts(position) }
    }

    /// Records that clients write a column, so that it cannot be an unnamed key.
    mutating func addWritten(_ name: String) { written.insert(name) }

    /// Returns the table, with an invented key if a section names none.
    ///
    /// Every column has a default, and all but the keys can be NULL. The strictness of the database is unknown, so a
    /// column can contain values of other types, as in SQLite.
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
        // The key in one section is the key of another section of the table, if possible.
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
        // Types from rules come first, so that a rule without a type finds the same one.
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
