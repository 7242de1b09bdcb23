import MergeCore
import RecordStore

/// Reads and locks the rows on which edits are decided: the only reader of a run until its checks.
///
/// A read shows the writes of the run so far. So the waiting updates that may concern it are written first.
struct FactStore {
    let run: RunEnvironment
    /// The rows as they were before the push.
    var before: RowsBefore
    /// The rows that edits name by key.
    private var rows = RowContext()
    /// The edit whose rows were read again last.
    private var reloaded: Int?
    var trails: [RecordName: KnownTrails] = [:]

    init(_ run: RunEnvironment) {
        self.run = run
        before = RowsBefore(run)
    }

    var active: ActiveRules { run.active }

    // MARK: Rows by key

    /// Locks all roots whose keys the push contains, in one global order, so that pushes cannot deadlock.
    mutating func lockRoots(_ writer: inout ChangeWriter) throws(PushStop) {
        let roots = run.roots.filter { !$0.keys.isEmpty }
        guard roots.count > 1 || (roots.first?.keys.count ?? 0) > 1 else { return }
        for root in roots { try lock(root.keys, of: root.resource, &writer) }
    }

    /// If edits are independent, a root that cannot be read is left out; its own edit is refused later.
    private mutating func lock(
        _ keys: [RecordKey], of resource: Resource, _ writer: inout ChangeWriter
    ) throws(PushStop) {
        do throws(PushStop) {
            try read(keys, of: resource.root, as: SectionID(resource: resource.name, section: 0), &writer)
        } catch {
            guard run.isEachForItself, case .store(let cause) = error, cause.refusal != nil else { throw error }
            guard keys.count > 1 else { return }
            for key in keys { try lock([key], of: resource, &writer) }
        }
    }

    /// Locks and reads the rows that some edits name, unless they are current.
    mutating func load(_ wave: [PushPlan.Step], _ writer: inout ChangeWriter) throws(PushStop) {
        // In this case the edits need only the roots, which are already locked.
        if run.namesEachOnce, wave.count > 1, writer.changes.now == 0,
            wave.allSatisfy({ $0.rows.allSatisfy { $0.section == 0 } })
        {
            return
        }
        var wanted: [SectionID: (section: Section, keys: Set<RecordKey>)] = [:]
        for step in wave {
            let resource = step.edit.resource
            if let key = writer.settled(step.edit.id) {
                let id = SectionID(resource: resource.name, section: 0)
                wanted[id, default: (resource.root, [])].keys.insert(key)
            }
            for row in step.rows where row.section > 0 {
                guard let key = row.id.flatMap({ writer.settled($0) }) else { continue }
                let id = SectionID(resource: resource.name, section: row.section)
                wanted[id, default: (resource.sections[row.section], [])].keys.insert(key)
            }
        }
        for id in wanted.keys.sorted(by: { ($0.section, $0.resource) < ($1.section, $1.resource) }) {
            guard let (section, keys) = wanted[id] else { continue }
            let missing = keys.filter { known($0, of: section, as: id, writer) == nil }
            if !missing.isEmpty { try read(RecordKey.ordered(Array(missing)), of: section, as: id, &writer) }
        }
    }

    /// Returns the row with a key, as earlier edits left it.
    ///
    /// - Parameters:
    ///   - step: the edit that needs the row; its other rows are read at the same time.
    ///   - equated: if true, also finds a row whose key is equal only under the collation, as a creation must.
    mutating func row(
        _ key: RecordKey?, of section: Section, as id: SectionID, for step: PushPlan.Step, equated: Bool,
        _ writer: inout ChangeWriter
    ) throws(PushStop) -> [Value]? {
        guard let key else { return nil }
        // The first call for an edit reads all its rows; later calls read rows that its own writes may have changed.
        var found = known(key, of: section, as: id, writer)
        if found == nil, reloaded != step.index {
            reloaded = step.index
            try load([step], &writer)
            found = known(key, of: section, as: id, writer)
        }
        if found == nil {
            try read([key], of: section, as: id, &writer)
            found = rows[id, key]
        }
        if let row = found?.row { return row }
        guard equated, key.hasText else { return nil }
        return try rows(of: section, withKey: key, includesEquated: true, &writer).first
    }

    private mutating func read(
        _ keys: [RecordKey], of section: Section, as id: SectionID, _ writer: inout ChangeWriter
    ) throws(PushStop) {
        try writer.flush()
        let found = try run.rows(of: section, where: Array(0..<section.keyCount), in: keys.map(\.parts))
        guard rows.store(found, askedFor: keys, of: section, as: id, at: writer.changes.now) else {
            throw .store(StoreError.ambiguous(section))
        }
    }

    /// Returns a row that was read, if no later write can have changed it; otherwise nil.
    private func known(
        _ key: RecordKey, of section: Section, as id: SectionID, _ writer: ChangeWriter
    ) -> RowContext.Found? {
        guard let found = rows[id, key] else { return nil }
        // Most pushes read all rows before their first write.
        if writer.changes.now == found.time { return found }
        let footprint = run.footprint(section)
        let reference = run.isNamedOnce(section) ? nil : footprint.reference(to: key)
        return writer.changes.mayHaveChanged(reference, in: footprint.table, since: found.time) ? nil : found
    }

    // MARK: Other rows

    /// Reads the rows with a key, in spite of the rules' visibility if wanted.
    ///
    /// - Parameters:
    ///   - locking: false if the transaction only needs a consistent value.
    ///   - includesEquated: if true, also finds rows whose key is equal only under the collation.
    func rows(
        of section: Section, withKey key: RecordKey, locking: Bool = true, includesHidden: Bool = false,
        includesEquated: Bool = false, _ writer: inout ChangeWriter
    ) throws(PushStop) -> [[Value]] {
        try writer.flush()
        return try run.rows(
            of: section, where: Array(0..<section.keyCount), in: [key.parts], locking: locking,
            includesHidden: includesHidden, includesEquated: includesEquated)
    }

    /// Reads the row of a singleton.
    func singleton(
        _ section: Section, of root: [Value], _ writer: inout ChangeWriter
    ) throws(PushStop) -> [Value]? {
        // Pushes that share the transaction have no singleton in common.
        if writer.updates.mayChange(run.footprint(section).table) { try writer.flushUnlessShared() }
        return try run.reading { () throws(StoreError) in
            try run.reader.rows(of: section, in: root, locking: true).first
        }
    }

    /// Reads the rows of a record in a section.
    func rows(
        of section: Section, in root: [Value], _ writer: inout ChangeWriter
    ) throws(PushStop) -> [[Value]] {
        try writer.flushUnlessShared()
        return try run.reading { () throws(StoreError) in
            try run.reader.rows(of: section, in: root, locking: true)
        }
    }

    /// Reads rows whose columns contain some values, also rows that the rules hide.
    func rows(
        of section: Section, where columns: [Int], are values: [Value], includesEquated: Bool = false,
        _ writer: inout ChangeWriter
    ) throws(PushStop) -> [[Value]] {
        try writer.flush()
        return try run.rows(
            of: section, where: columns, in: [values], includesHidden: true, includesEquated: includesEquated)
    }

    /// Returns true if the rules hide a row from every client.
    func isHidden(_ row: [Value], of section: Section) throws(PushStop) -> Bool {
        let address = section.address(of: row)
        let question = run.sql(section).hidden(
            where: address.map(\.column), in: [address.map(\.value)], locking: run.session.mustLockReads)
        guard let question else { return false }
        return try !run.query(question).isEmpty
    }

    /// Reads all columns of a row that the journal keeps.
    func wholeRow(_ row: [Value], _ section: Section) throws(PushStop) -> RawRow? {
        let columns = active.keptColumns[section.table]
        if columns.isEmpty { return nil }
        if section.keyCount == 0 {
            let kept = Set(columns.map(\.name))
            return RawRow(
                values: zip(section.columns, row).filter { kept.contains($0.0.name) }.map {
                    RawValue(column: $0, value: $1)
                })
        }
        let key = section.address(of: row).map { part in
            RawValue(column: section.columns[part.column], value: part.value)
        }
        let statement = RawSQL(run.dialect).select(columns, from: section.table, where: key, locking: true)
        return try run.query(statement).first.map { found in
            RawRow(values: zip(columns, found).map { RawValue(column: $0, value: $1) })
        }
    }

    // MARK: Guards

    /// Returns the guards of a row.
    ///
    /// A deletion of a record is also subject to the guards of its other sections.
    mutating func guards(
        of row: [Value], in edited: EditedRow, _ action: RowAction, _ writer: inout ChangeWriter
    ) throws(PushStop) -> RowGuards {
        let section = edited.section
        var guards = RowGuards()
        guards.isNew = before.isNew(row, in: section)
        if section.frozenWhen != nil, try before.isFrozen(row, in: section) { guards.frozen = section.frozenWhen?.rule }
        if case .delete = action, section.kind == .root, guards.frozen == nil {
            guards.frozen = try frozenPart(of: row, in: edited.resource, &writer)
        }
        guards.before = before.original(of: row, in: section)
        return guards
    }

    /// Returns the rule that freezes a row of another section of a record; nil if no row is frozen.
    private mutating func frozenPart(
        of root: [Value], in resource: Resource, _ writer: inout ChangeWriter
    ) throws(PushStop) -> RuleReference? {
        // A soft deletion leaves the other rows unchanged.
        if resource.root.softDelete != nil { return nil }
        for section in resource.sections.dropFirst() where section.frozenWhen != nil {
            for part in try rows(of: section, in: root, &writer) where try before.isFrozen(part, in: section) {
                return section.frozenWhen?.rule
            }
        }
        return nil
    }

    // MARK: Cascades

    private var cascadeFinder: CascadeFinder {
        CascadeFinder(schema: active.schema, kept: active.keptColumns, session: run.session, dialect: run.dialect)
    }

    /// Finds the rows that the database deletes or changes with a row; empty if there are no foreign keys.
    func cascades(deleting row: [Value], of section: Section) throws(PushStop) -> [CascadeFinder.Step] {
        if active.schema.dependents(ofDeletionFrom: section.table).isEmpty { return [] }
        return try run.reading { () throws(StoreError) in
            try cascadeFinder.steps(deleting: row, section.columns, from: section.table)
        }
    }

    /// Finds the rows that the database changes with an update; empty if no foreign key refers to its columns.
    ///
    /// - Throws: `RunAgain` if several pushes share the transaction and a foreign key does.
    func cascades(
        updating row: [Value], to after: [Value], writing assignments: [Assignment], of section: Section,
        _ writer: inout ChangeWriter
    ) throws(PushStop) -> [CascadeFinder.Step] {
        let columns = Set(assignments.map { section.columns[$0.column].name })
        if active.schema.dependents(ofChangeTo: columns, in: section.table).isEmpty { return [] }
        if run.batch.isShared { throw .again(.alone) }
        // The search must find the values that earlier edits wrote.
        try writer.flush()
        return try run.reading { () throws(StoreError) in
            try cascadeFinder.steps(updating: row, to: after, section.columns, in: section.table)
        }
    }
}
