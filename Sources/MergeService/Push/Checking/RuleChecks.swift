import MergeCore
import RecordStore

/// The written rows that the rules' checks read after all writes.
///
/// Its state is a value, so a savepoint is a copy.
struct RuleChecks {
    /// Written rows of one section.
    struct Rows {
        let id: SectionID
        let section: Section
        let rows: [WrittenRows.Row]
    }

    private let run: RunEnvironment
    private var written = WrittenRows()
    /// Columns written in rows that several resources share, by section.
    private var sharedWrites: [RowName: [SectionID: Set<String>]] = [:]

    init(_ run: RunEnvironment) {
        self.run = run
    }

    var isEmpty: Bool { written.rows.isEmpty }

    /// True if the renaming of a row may concern recorded writes.
    var followsRows: Bool { !written.rows.isEmpty || !sharedWrites.isEmpty }

    // MARK: Writes

    /// Records a written row.
    ///
    /// - Parameters:
    ///   - values: the row's values, which contain its address.
    ///   - before: the row before the edit; nil if the push inserted it.
    ///   - traces: the outcomes of the edit that wrote the row.
    mutating func note(_ row: EditedRow, values: [Value], before: [Value]?, traces: [WrittenRows.Trace]) {
        guard row.section.isChecked, !values.isEmpty else { return }
        let address = row.section.address(of: values)
        written.note(
            WrittenRows.Row(address: address, before: before, last: row, traces: before == nil ? [] : traces), row.id)
    }

    /// Records a row that already contained the values of an edit.
    ///
    /// If an earlier edit of the push wrote them, a check may revert them for both edits.
    mutating func recordFound(_ row: EditedRow, values: [Value], traces: [WrittenRows.Trace]) {
        guard row.section.isChecked, !values.isEmpty else { return }
        written.trace(traces, of: row.section.address(of: values), row.id)
    }

    mutating func recordInserted(_ row: EditedRow, key: RecordKey, root: [Value]) {
        let section = row.section
        guard section.isChecked else { return }
        let address =
            section.keyCount > 0
            ? key.parts.enumerated().map { Assignment(column: $0, value: $1) }
            : section.parent.map { Assignment(column: $0.column, value: root[$0.rootColumn]) }
        written.note(WrittenRows.Row(address: address, before: nil, last: row), row.id)
    }

    /// Records the columns of an update, if a check of another section may revert them.
    ///
    /// - Parameter names: the row's names under all keys of its table.
    mutating func recordColumns(_ assignments: [Assignment], of row: EditedRow, names: [RowName]) {
        let columns = assignments.map { row.section.columns[$0.column].name.lowercased() }
        for name in names { sharedWrites[name, default: [:]][row.id, default: []].formUnion(columns) }
    }

    /// Records a row under its new keys.
    mutating func rename(_ row: RowRenaming) {
        var renamed: [RowName: RowName] = [:]
        for view in run.active.views[row.table] {
            guard let keys = row.keys(in: view.section) else { continue }
            let footprint = run.footprint(view.section)
            renamed[footprint.name(of: keys.before)] = footprint.name(of: keys.after)
        }
        let writes = renamed.keys.compactMap { name in sharedWrites.removeValue(forKey: name).map { (name, $0) } }
        for (name, columns) in writes { if let new = renamed[name] { sharedWrites[new] = columns } }
        written.rename { written in
            guard written.last.section.table == row.table,
                let keys = row.keys(in: written.last.section),
                written.address.map(\.value) == keys.before.parts
            else { return nil }
            return zip(written.address, keys.after.parts).map { Assignment(column: $0.column, value: $1) }
        }
    }

    /// Forgets a row of one section.
    mutating func remove(_ address: [Assignment], _ id: SectionID) { written.remove(address, id) }

    /// Forgets a row that does not exist any more, under all sections that contain it.
    ///
    /// A row that the push creates again under the same key is another row.
    ///
    /// - Parameter row: values of the columns, which contain the key.
    mutating func forget(_ row: [Value], _ columns: [Column], of table: TableName) {
        if written.rows.isEmpty { return }
        let values = Dictionary(
            zip(columns, row).map { ($0.name.lowercased(), RawValue(column: $0, value: $1)) }
        ) { first, _ in first }
        written.remove { written in
            let section = written.last.section
            return section.table == table
                && written.address.allSatisfy { part in
                    let column = section.columns[part.column]
                    return values[column.name.lowercased()]?.isSame(as: part.value, in: column) ?? false
                }
        }
    }

    /// Forgets the rows that steps wrote.
    mutating func drop(_ isDropped: (PushPlan.Step) -> Bool) { written.remove { isDropped($0.last.step) } }

    /// Returns the checks without rows, for an edit that is checked alone.
    func withoutRows() -> RuleChecks {
        var checks = self
        checks.written = WrittenRows()
        return checks
    }

    // MARK: Results

    /// The written rows by section, in a fixed order.
    var rows: [Rows] {
        written.rows.sorted { ($0.key.resource, $0.key.section) < ($1.key.resource, $1.key.section) }
            .compactMap { id, rows in
                guard let first = rows.values.first else { return nil }
                let sorted = rows.values.sorted { a, b in
                    RecordKey(a.address.map(\.value)).precedes(RecordKey(b.address.map(\.value)))
                }
                return Rows(id: id, section: first.last.resource.sections[id.section], rows: sorted)
            }
    }

    /// Returns the rows on which a check fails.
    func failing(_ check: RowCheck, among rows: Rows) throws(PushStop) -> [WrittenRows.Row] {
        let sql = run.sql(rows.section)
        return try matching(rows.rows) { sql.failing(check, where: $0, in: $1) }
    }

    /// Returns a row that the rules hide from every client.
    func hidden(among rows: Rows) throws(PushStop) -> WrittenRows.Row? {
        let sql = run.sql(rows.section)
        return try matching(rows.rows) { sql.hidden(where: $0, in: $1) }.first
    }

    /// Removes and returns the effects of edits on some groups of a row.
    mutating func takeTraces(of row: WrittenRows.Row, _ id: SectionID, groups: Set<Int>) -> [WrittenRows.Trace] {
        written.takeTraces(of: row.address, id, groups: groups)
    }

    /// Returns true if a group that the push wrote to a row is not reverted.
    func isWritten(_ row: WrittenRows.Row, _ id: SectionID) -> Bool {
        written.rows[id]?[row.address]?.traces.isEmpty == false
    }

    /// Returns true if another resource of the push wrote columns of these groups.
    ///
    /// Its outcomes already report them as written.
    func isWrittenElsewhere(_ groups: Set<Int>, of row: WrittenRows.Row, in rows: Rows) -> Bool {
        let section = rows.section
        guard let writes = sharedWrites[name(of: row, in: section)] else { return false }
        let columns = groups.flatMap { section.groups[$0].fields }.map { field in
            section.columns[section.fields[field].column].name.lowercased()
        }
        return writes.contains { other, written in other != rows.id && !written.isDisjoint(with: columns) }
    }

    /// Returns true if another resource of the push wrote to the row.
    func isWrittenElsewhere(_ row: WrittenRows.Row, in rows: Rows) -> Bool {
        sharedWrites[name(of: row, in: rows.section)]?.keys.contains { $0 != rows.id } ?? false
    }

    private func name(of row: WrittenRows.Row, in section: Section) -> RowName {
        run.footprint(section).name(of: RecordKey(row.address.map(\.value)))
    }

    private func matching(
        _ rows: [WrittenRows.Row], _ statement: ([Int], [[Value]]) -> Statement?
    ) throws(PushStop) -> [WrittenRows.Row] {
        guard let columns = rows.first?.address.map(\.column) else { return [] }
        var found: [WrittenRows.Row] = []
        var start = 0
        while start < rows.count {
            let batch = rows[start..<min(start + SectionSQL.maximumBatch, rows.count)]
            start += SectionSQL.maximumBatch
            guard let statement = statement(columns, batch.map { $0.address.map(\.value) }) else { return [] }
            let hits = Set(try run.query(statement))
            found += batch.filter { hits.contains($0.address.map(\.value)) }
        }
        return found
    }
}

extension RowCheck {
    /// The problem of an edit whose row fails the check.
    func problem(on row: EditedRow) -> Problem {
        var problem = Problem(
            .check, about: .rule, detail: "The check “\(name)” fails for the merged row.", path: row.edit.path,
            retry: .never, constraint: name, fields: fields.map { row.section.fields[$0].name })
        problem.check = rule
        problem.cause = "check “\(name)” of \(rule)"
        return problem
    }
}

extension Section {
    var isChecked: Bool { !checks.isEmpty || visibility != nil }
}

extension OutcomeKind {
    var writes: Bool { self == .applied || self == .clientWon || self == .combined }

    /// True if the outcome changed a row or a group.
    package var hasEffect: Bool {
        switch self {
        case .applied, .clientWon, .combined, .inserted, .deleted, .restored: true
        case .unchanged, .already, .serverWon, .rejected, .kept, .missing: false
        }
    }
}
