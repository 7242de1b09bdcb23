import MergeCore
import RecordStore

/// Rows as they were before the push, under the keys of all sections that contain them.
extension PushTransaction {
    struct PartialRow {
        let table: TableName
        let columns: [Column]
        let values: [Value]
        /// Positions of the columns that identify the row.
        let address: [Int]
    }

    /// Returns a row as it was before the push, for guards and access conditions.
    ///
    /// - Returns: nil if the push has not changed the row.
    func original(of row: [Value], in section: Section) -> [Value]? {
        guard !originals.isEmpty, let known = originals[name(of: key(of: row, in: section), in: section)] else {
            return nil
        }
        return zip(section.columns, row).map { known[$0.name.lowercased()] ?? $1 }
    }

    func isNew(_ row: [Value], in section: Section) -> Bool {
        !fresh.isEmpty && isNew(key(of: row, in: section), in: section)
    }

    func isNew(_ key: RecordKey, in section: Section) -> Bool {
        !fresh.isEmpty && fresh.contains(name(of: key, in: section))
    }

    /// Records a row before its update, and its guards under all sections that contain it.
    func noteOriginal(_ row: [Value], in section: Section, writing assignments: [Assignment]) throws {
        let row = PartialRow(
            table: section.table, columns: section.columns, values: row, address: section.addressPositions)
        try noteOriginal(row, changing: assignments)
    }

    func noteOriginals(_ steps: [CascadeFinder.Step]) throws {
        for step in steps {
            let cascade = step.cascade
            // Without a primary key, the columns may name several rows.
            guard let after = step.after, active.schema.tables[cascade.table]?.primaryKey.isEmpty == false else {
                continue
            }
            for (before, after) in zip(cascade.rows, after) {
                let row = PartialRow(
                    table: cascade.table, columns: cascade.columns, values: before,
                    address: Array(0..<cascade.nameCount))
                try noteOriginal(row, changing: cascade.links.map { Assignment(column: $0, value: after[$0]) })
            }
        }
    }

    /// Records an inserted row.
    ///
    /// - Parameter assignments: the written columns and the key.
    func noteFresh(_ assignments: [Assignment], in section: Section) throws {
        let positions = section.addressPositions
        let row = PartialRow(
            table: section.table, columns: assignments.map { section.columns[$0.column] },
            values: assignments.map(\.value),
            address: assignments.indices.filter { positions.contains(assignments[$0].column) })
        fresh.formUnion(names(of: try addressValues(of: row), in: row.table))
    }

    private func noteOriginal(_ row: PartialRow, changing assignments: [Assignment]) throws {
        let isGuarded = active.views.hasGuards(row.table)
        let tested = active.views.testedColumns(of: row.table)
        let columns = assignments.map { row.columns[$0.column].name.lowercased() }
        let renames = active.views[row.table].contains { view in
            view.section.addressColumns.contains { columns.contains($0.name.lowercased()) }
        }
        let isNoted = isGuarded || !tested.isDisjoint(with: columns)
        guard isNoted || renames && !(originals.isEmpty && fresh.isEmpty) else { return }
        let values = try addressValues(of: row)
        let names = names(of: values, in: row.table)
        for (column, part) in zip(columns, assignments) where isGuarded || tested.contains(column) {
            for name in names where originals[name]?[column] == nil {
                originals[name, default: [:]][column] = row.values[part.column]
            }
        }
        if isGuarded { try noteFrozen(values, in: row.table) }
        if renames {
            // Each section converts the new value to its own type.
            let written = Dictionary(zip(columns, assignments.map(\.value))) { $1 }
            let after = values.map { column, value in
                (column, written[column.name.lowercased()].map { column.converted($0) } ?? value)
            }
            rename(values, to: Dictionary(uniqueKeysWithValues: after), in: row.table)
        }
    }

    private func noteFrozen(_ values: [Column: Value], in table: TableName) throws(StoreError) {
        for section in sections(of: table) where section.frozenWhen != nil {
            guard let row = guardedRow(values, in: section), frozen[row] == nil,
                let question = SectionSQL.of(section, dialect).frozen(
                    where: section.addressPositions, in: [row.key.parts], locking: session.mustLockReads)
            else { continue }
            frozen[row] = try !session.query(question).isEmpty
        }
    }

    /// Moves the recorded facts of a row to its new keys.
    private func rename(_ values: [Column: Value], to after: [Column: Value], in table: TableName) {
        let (old, new) = (names(of: values, in: table), names(of: after, in: table))
        let original = old.first.flatMap { originals[$0] }
        let isNew = old.first.map { fresh.contains($0) } ?? false
        for name in old { originals[name] = nil }
        for name in new { originals[name] = original }
        fresh.subtract(old + new)
        if isNew { fresh.formUnion(new) }
        for section in sections(of: table) where section.frozenWhen != nil {
            let known = guardedRow(values, in: section).flatMap { frozen.removeValue(forKey: $0) }
            if let row = guardedRow(after, in: section) { frozen[row] = known }
        }
    }

    private func guardedRow(_ values: [Column: Value], in section: Section) -> GuardedRow? {
        let key = section.addressColumns.compactMap { values[$0] }
        guard !key.isEmpty, key.count == section.addressColumns.count, !key.contains(.null) else { return nil }
        return GuardedRow(section: section.origin, key: RecordKey(key))
    }

    private func name(of key: RecordKey, in section: Section) -> RowName {
        RowName(table: canonical(section.table), key, in: section)
    }

    private func names(of values: [Column: Value], in table: TableName) -> [RowName] {
        let table = canonical(table)
        return sections(of: table).compactMap { section in
            guardedRow(values, in: section).map { RowName(table: table, $0.key, in: section) }
        }
    }

    /// Returns the values by which sections find a row; reads those that are missing.
    private func addressValues(of row: PartialRow) throws -> [Column: Value] {
        var values = Dictionary(zip(row.columns, row.values)) { first, _ in first }
        var missing: [Column] = []
        for column in sections(of: row.table).flatMap(\.addressColumns)
        where values[column] == nil && !missing.contains(column) { missing.append(column) }
        if missing.isEmpty || row.address.isEmpty { return values }
        try flush()
        let address = row.address.map { RawValue(column: row.columns[$0], value: row.values[$0]) }
        let found = try session.query(
            RawSQL(dialect).select(missing, from: row.table, where: address, locking: session.mustLockReads))
        for (column, value) in zip(missing, found.first ?? []) { values[column] = value }
        return values
    }

    /// Sections with a key come first, because a key names one row.
    private func sections(of table: TableName) -> [Section] {
        let wanted = canonical(table)
        let sections = active.views[table].map(\.section).filter { canonical($0.table) == wanted }
        return sections.filter { $0.keyCount > 0 } + sections.filter { $0.keyCount == 0 }
    }

    /// Returns one name for all spellings of a table.
    private func canonical(_ table: TableName) -> TableName {
        let schema = table.schema?.lowercased()
        return TableName(
            schema: schema == active.schema.name?.lowercased() ? nil : schema, name: table.name.lowercased())
    }
}
