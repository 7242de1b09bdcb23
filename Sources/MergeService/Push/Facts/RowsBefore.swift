import MergeCore
import RecordStore

/// Rows as they were before the push, under the keys of all sections that contain them.
///
/// Its state is a value, so a savepoint is a copy.
struct RowsBefore {
    private struct GuardedRow: Hashable {
        let section: ObjectIdentifier
        let key: RecordKey
    }

    private struct DeletedRow {
        let section: Section
        let row: RawRow
    }

    private let run: RunEnvironment
    private var referred = ReferredValues()
    /// Columns of changed rows: all written columns of tables with guards, else the columns that access conditions test.
    ///
    /// Each is in the types of all sections of the table.
    private var originals: [RowName: [Column: Value]] = [:]
    /// Results of guards.
    private var frozen: [GuardedRow: Bool] = [:]
    /// Inserted rows of tables with guards, with access conditions, or with checks of another section.
    private var fresh: Set<RowName> = []
    /// Rows that the push deleted, the last one at the end.
    private var deleted: [DeletedRow] = []

    init(_ run: RunEnvironment) {
        self.run = run
    }

    private var active: ActiveRules { run.active }

    // MARK: Questions

    /// Returns a row as it was before the push, for guards and access conditions.
    ///
    /// - Returns: nil if the push has changed neither the row nor a referred row whose columns conditions test.
    func original(of row: [Value], in section: Section) -> [Value]? {
        let own = ownOriginal(of: row, in: section)
        guard section.hasLookups, own != nil || !referred.isEmpty else { return own }
        return referred.original(of: own ?? row, in: section.columns) ?? own
    }

    private func ownOriginal(of row: [Value], in section: Section) -> [Value]? {
        guard !originals.isEmpty, let known = originals[name(of: section.addressKey(of: row), in: section)] else {
            return nil
        }
        return zip(section.columns, row).map { known[$0] ?? $1 }
    }

    func isNew(_ row: [Value], in section: Section) -> Bool {
        !fresh.isEmpty && isNew(section.addressKey(of: row), in: section)
    }

    func isNew(_ key: RecordKey, in section: Section) -> Bool {
        !fresh.isEmpty && fresh.contains(name(of: key, in: section))
    }

    /// Returns a row that the push deleted, through any resource.
    func deletedRow(_ key: RecordKey, of section: Section) -> RawRow? {
        deleted.last { deleted in
            section.showsRows(of: deleted.section, in: active.footprints)
                && zip(section.columns, key.parts).allSatisfy { deleted.row.contains($1, in: $0) ?? false }
        }?.row
    }

    /// Returns true if the rules froze a row before the push; nil if the answer is not recorded yet.
    func isFrozen(_ row: [Value], in section: Section) -> Bool? {
        let key = section.addressKey(of: row)
        return isNew(key, in: section) ? false : frozen[GuardedRow(section: section.origin, key: key)]
    }

    mutating func recordFrozen(_ isFrozen: Bool, _ key: RecordKey, of section: Section) {
        frozen[GuardedRow(section: section.origin, key: key)] = isFrozen
    }

    private func askFrozen(_ key: RecordKey, in section: Section) throws(PushStop) -> Bool? {
        let question = run.sql(section).frozen(
            where: section.addressPositions, in: [key.parts], locking: run.session.mustLockReads)
        guard let question else { return nil }
        return try !run.query(question).isEmpty
    }

    // MARK: Changes

    /// Records a row before its update, and its guards under all sections that contain it.
    ///
    /// - Parameter isFollowed: true if the caller needs the row's renaming.
    /// - Returns: the renaming of the row; nil if its keys do not change.
    @discardableResult
    mutating func note(
        _ row: [Value], in section: Section, writing assignments: [Assignment], isFollowed: Bool = false,
        _ writer: inout ChangeWriter
    ) throws(PushStop) -> RowRenaming? {
        let row = PartialRow(
            table: section.table, columns: section.columns, values: row, address: section.addressPositions)
        try referred.recordWrite(to: row, setting: assignments, run, &writer)
        return try note(row, changing: assignments, isFollowed: isFollowed, &writer)
    }

    /// Records the referred values of a row before a write that may change any of its columns.
    mutating func recordReferred(
        _ row: [Value], in section: Section, _ writer: inout ChangeWriter
    ) throws(PushStop) {
        let row = PartialRow(
            table: section.table, columns: section.columns, values: row, address: section.addressPositions)
        try referred.recordWrite(to: row, setting: nil, run, &writer)
    }

    /// Records that rows did not exist which an undo is about to restore.
    mutating func recordRestored(_ cascades: [Cascade], _ writer: inout ChangeWriter) throws(PushStop) {
        for cascade in cascades where cascade.effect == .delete {
            for row in cascade.rows { try referred.recordInsertion(of: PartialRow(row, of: cascade), run, &writer) }
        }
    }

    /// Records rows before the database changes them along.
    ///
    /// - Returns: the renamings of the rows, if they are followed.
    @discardableResult
    mutating func note(
        _ steps: [CascadeFinder.Step], isFollowed: Bool = false, _ writer: inout ChangeWriter
    ) throws(PushStop) -> [RowRenaming] {
        var renamings: [RowRenaming] = []
        for step in steps {
            let cascade = step.cascade
            for (index, before) in cascade.rows.enumerated() {
                let after = step.after.map { after in
                    cascade.links.map { Assignment(column: $0, value: after[index][$0]) }
                }
                try referred.recordWrite(to: PartialRow(before, of: cascade), setting: after, run, &writer)
            }
            // Without a primary key, the columns may name several rows.
            guard let after = step.after, active.schema.tables[cascade.table]?.primaryKey.isEmpty == false else {
                continue
            }
            for (before, after) in zip(cascade.rows, after) {
                let renaming = try note(
                    PartialRow(before, of: cascade),
                    changing: cascade.links.map { Assignment(column: $0, value: after[$0]) },
                    isFollowed: isFollowed, &writer)
                if let renaming { renamings.append(renaming) }
            }
        }
        return renamings
    }

    /// Records an inserted row.
    ///
    /// - Parameter assignments: the written columns and the key.
    mutating func recordInserted(
        _ assignments: [Assignment], in section: Section, _ writer: inout ChangeWriter
    ) throws(PushStop) {
        let positions = section.addressPositions
        let row = PartialRow(
            table: section.table, columns: assignments.map { section.columns[$0.column] },
            values: assignments.map(\.value),
            address: assignments.indices.filter { positions.contains(assignments[$0].column) })
        try referred.recordInsertion(of: row, run, &writer)
        guard
            active.views.hasGuards(section.table) || run.footprint(section).isCheckedElsewhere
                || !active.views.testedColumns(of: section.table).isEmpty
        else { return }
        fresh.formUnion(names(of: try addressValues(of: row, &writer), in: row.table))
    }

    /// Records all columns of a row before its deletion.
    mutating func recordDeleted(_ row: RawRow, in section: Section) {
        deleted.append(DeletedRow(section: section, row: row))
    }

    private mutating func note(
        _ row: PartialRow, changing assignments: [Assignment], isFollowed: Bool, _ writer: inout ChangeWriter
    ) throws(PushStop) -> RowRenaming? {
        let isGuarded = active.views.hasGuards(row.table)
        let tested = active.views.testedColumns(of: row.table)
        let columns = assignments.map { row.columns[$0.column].name.lowercased() }
        let renames = active.views[row.table].contains { view in
            view.section.addressColumns.contains { columns.contains($0.name.lowercased()) }
        }
        let isNoted = isGuarded || !tested.isDisjoint(with: columns)
        guard isNoted || renames && (isFollowed || !(originals.isEmpty && fresh.isEmpty)) else { return nil }
        let noted = sections(of: row.table).flatMap(\.columns).filter { column in
            let name = column.name.lowercased()
            return column.lookup == nil && columns.contains(name) && (isGuarded || tested.contains(name))
        }
        let values = try addressValues(of: row, and: noted, &writer)
        for name in names(of: values, in: row.table) {
            for column in noted where originals[name]?[column] == nil {
                originals[name, default: [:]][column] = values[column]
            }
        }
        if isGuarded { try recordFrozen(values, in: row.table) }
        if renames {
            let written = Dictionary(zip(columns, assignments.map { row.setting($0) })) { $1 }
            let after = values.map { column, value in
                (column, written[column.name.lowercased()]?.value(in: column) ?? value)
            }
            let renaming = RowRenaming(
                table: row.table, before: values, after: Dictionary(uniqueKeysWithValues: after))
            rename(values, to: renaming.after, in: row.table)
            return renaming
        }
        return nil
    }

    private mutating func recordFrozen(_ values: [Column: Value], in table: TableName) throws(PushStop) {
        for section in sections(of: table) where section.frozenWhen != nil {
            guard let row = guardedRow(values, in: section), frozen[row] == nil else { continue }
            if let isFrozen = try askFrozen(row.key, in: section) { frozen[row] = isFrozen }
        }
    }

    /// Moves the recorded facts of a row to its new keys.
    private mutating func rename(_ values: [Column: Value], to after: [Column: Value], in table: TableName) {
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

    // MARK: Names of a row

    /// Returns the names of a row under the keys of all sections of its table.
    func keyNames(
        of row: [Value], in section: Section, _ writer: inout ChangeWriter
    ) throws(PushStop) -> [RowName] {
        let footprint = run.footprint(section)
        let own = footprint.name(of: section.addressKey(of: row))
        if !footprint.isAmbiguous { return [own] }
        let row = PartialRow(
            table: section.table, columns: section.columns, values: row, address: section.addressPositions)
        return Array(Set(names(of: try addressValues(of: row, &writer), in: section.table) + [own]))
    }

    private func guardedRow(_ values: [Column: Value], in section: Section) -> GuardedRow? {
        let key = section.addressColumns.compactMap { values[$0] }
        guard !key.isEmpty, key.count == section.addressColumns.count, !key.contains(.null) else { return nil }
        return GuardedRow(section: section.origin, key: RecordKey(key))
    }

    private func name(of key: RecordKey, in section: Section) -> RowName {
        run.footprint(section).name(of: key)
    }

    private func names(of values: [Column: Value], in table: TableName) -> [RowName] {
        sections(of: table).compactMap { section in
            guardedRow(values, in: section).map { name(of: $0.key, in: section) }
        }
    }

    /// Returns the values by which sections find a row, and those of other columns.
    ///
    /// Missing columns, and columns in the type of another section, are read.
    private func addressValues(
        of row: PartialRow, and others: [Column] = [], _ writer: inout ChangeWriter
    ) throws(PushStop) -> [Column: Value] {
        var values = Dictionary(zip(row.columns, row.values)) { first, _ in first }
        var missing: [Column] = []
        for column in sections(of: row.table).flatMap(\.addressColumns) + others
        where values[column] == nil && !missing.contains(column) { missing.append(column) }
        if missing.isEmpty || row.address.isEmpty { return values }
        try writer.flush()
        let address = row.address.map { RawValue(column: row.columns[$0], value: row.values[$0]) }
        let statement = RawSQL(run.dialect).select(
            missing, from: row.table, where: address, locking: run.session.mustLockReads)
        guard let found = try run.query(statement).first else {
            throw .store(StoreError(.serialization, "a row of “\(row.table)” is gone that the push is about to change"))
        }
        for (column, value) in zip(missing, found) { values[column] = value }
        return values
    }

    /// Sections with a key come first, because a key names one row.
    private func sections(of table: TableName) -> [Section] {
        let sections = active.views[table].map(\.section)
        return sections.filter { $0.keyCount > 0 } + sections.filter { $0.keyCount == 0 }
    }
}

extension Section {
    /// Returns the values by which a row is found.
    func addressKey(of row: [Value]) -> RecordKey { RecordKey(addressPositions.map { row[$0] }) }

    /// Returns true if a key of this section is the same as a key of another section of the table.
    func isSame(_ key: RecordKey, as edited: RecordKey, of other: Section) -> Bool {
        key.parts.count == edited.parts.count
            && zip(zip(columns, key.parts), zip(other.columns, edited.parts)).allSatisfy { own, part in
                RawValue(column: part.0, value: part.1).isSame(as: own.1, in: own.0)
            }
    }

    /// Returns true if this section finds the rows of another section by the same columns.
    func showsRows(of other: Section, in footprints: Footprints) -> Bool {
        footprints[other].table == footprints[self].table && other.keyCount == keyCount
            && zip(other.columns, columns).prefix(keyCount).allSatisfy { $0.name == $1.name }
    }
}
