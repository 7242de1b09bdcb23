import MergeCore
import RecordStore

/// The other records that contain written rows.
///
/// Resources may share a table, rows may move between records, and cascades may change rows of other records. A search
/// before the write and one after all writes find both the old and the new record. Its state is a value, so a savepoint
/// is a copy.
struct OtherRecords {
    /// Rows that were written, for a later search of their records.
    private struct WrittenRow {
        let report: Int
        let views: [TableView]
        let table: TableName
        let address: [RawValue]
        /// False if only a trigger may have changed the columns that the views show.
        var isCertain = true
    }

    private let run: RunEnvironment
    /// Rows whose records in other resources are searched after all writes.
    private var later: [WrittenRow] = []
    /// The records that each edit changed besides its own.
    private var records: [Int: Set<OtherRecord>] = [:]
    /// The values that access conditions tested in these records before the push.
    private var conditions: [OtherRecord: [UInt8]] = [:]
    /// The change of these records for access conditions.
    private var steps: [OtherRecord: ConditionStep] = [:]
    private var isWritten = false
    /// The highest number of records whose access one written row may decide.
    static let mostReferring = 10_000
    /// The highest number of records that show one written row; more would take longer than a request may.
    static let mostShowing = 200_000

    init(_ run: RunEnvironment) {
        self.run = run
    }

    // MARK: Writes

    /// Collects the other records that contain a row which is about to change.
    ///
    /// - Parameters:
    ///   - assignments: the columns that are written; nil for a deletion.
    ///   - before: the rows before the push.
    mutating func note(
        _ current: [Value], in section: Section, writing assignments: [Assignment]?, by report: Int,
        _ before: RowsBefore
    ) throws(PushStop) {
        guard run.isKept else { return }
        let views = run.active.views.others(than: section)
        if views.isEmpty { return }
        var sought: [TableView] = []
        var possible: [TableView] = []
        var moved: [TableView] = []
        // A trigger may write further columns of the row.
        let writesOnlyAssigned = run.footprint(section).writesOnlyItsRow
        for other in views {
            if writesOnlyAssigned, !other.concerns(assignments) { continue }
            if let positions = other.positions {
                // Usually the row's own columns contain the key of the record.
                if let key = other.view.key(positions.map { current[$0] }) {
                    let record = OtherRecord(resource: other.view.resource, key: key)
                    try recordConditions(of: [key], other.view, before: before)
                    records[report, default: []].insert(record)
                }
            } else if other.view.decidesAccess, !other.concerns(assignments) {
                possible.append(other.view)
            } else {
                sought.append(other.view)
            }
            if let assignments, other.isMoved(by: assignments) || other.refersElsewhere(after: assignments) {
                moved.append(other.view)
            }
        }
        if sought.isEmpty, possible.isEmpty, moved.isEmpty { return }
        let address = section.address(of: current).map { part in
            RawValue(column: section.columns[part.column], value: part.value)
        }
        func row(_ views: [TableView], isCertain: Bool = true) -> WrittenRow {
            WrittenRow(
                report: report, views: views, table: section.table, address: address, isCertain: isCertain)
        }
        if !sought.isEmpty { try find(row(sought), before: before) }
        if !possible.isEmpty { try find(row(possible, isCertain: false), before: before) }
        if !moved.isEmpty { later.append(row(moved)) }
    }

    /// Records an inserted row for the search after all writes.
    mutating func recordInserted(_ row: EditedRow, key: RecordKey, root: [Value]?) {
        let section = row.section
        guard run.isKept else { return }
        let views = run.active.views.others(than: section).map(\.view)
        if views.isEmpty { return }
        var address = zip(section.columns, key.parts).map { RawValue(column: $0, value: $1) }
        if address.isEmpty, let root {
            address = section.parent.map { link in
                RawValue(column: section.columns[link.column], value: root[link.rootColumn])
            }
        }
        later.append(WrittenRow(report: row.index, views: views, table: section.table, address: address))
    }

    /// Collects the records that contain rows which the database deletes, changes or restores.
    mutating func note(_ cascades: [Cascade], by report: Int, _ before: RowsBefore) throws(PushStop) {
        guard run.isKept else { return }
        for cascade in cascades {
            let views = run.active.views.all(cascade.table)
            for row in views.isEmpty ? [] : cascade.rows {
                try note(row, cascade.columns, shownBy: views, report, before)
            }
        }
    }

    /// Collects the records that contain cascaded rows, before and after the change.
    mutating func note(_ steps: [CascadeFinder.Step], by report: Int, _ before: RowsBefore) throws(PushStop) {
        try note(steps.map(\.cascade), by: report, before)
        guard run.isKept else { return }
        for step in steps where step.cascade.effect == .update {
            let cascade = step.cascade
            let views = run.active.views.all(cascade.table)
            guard !views.isEmpty, run.active.schema.tables[cascade.table]?.primaryKey.isEmpty == false else { continue }
            for row in step.after ?? [] {
                let address = zip(cascade.columns, row).prefix(cascade.nameCount).map {
                    RawValue(column: $0, value: $1)
                }
                later.append(WrittenRow(report: report, views: views, table: cascade.table, address: address))
            }
        }
    }

    // MARK: After all writes

    /// Finds the records that contain written rows now.
    mutating func findAll(_ progress: BatchProgress, _ before: RowsBefore) throws(PushStop) {
        isWritten = true
        defer { later = [] }
        for row in later
        where !progress.excluded.contains(run.batch.owners[row.report]) && progress.reports[row.report].isMerged {
            try find(row, before: before)
        }
        let tested = Set(records.values.joined()).filter { $0.resource.access?.columns.isEmpty == false }
        for records in Dictionary(grouping: tested, by: \.resource.origin).values {
            guard let resource = records.first?.resource else { continue }
            let roots = try roots(of: resource, records.map(\.key))
            for record in records {
                let root = roots[record.key]
                let after = root.flatMap { ConditionTuple($0, of: resource)?.bytes }
                // A write that changed neither the root row nor a referred row left the tested values as they were.
                let former = root.flatMap { root in
                    before.isNew(root, in: resource.root) ? nil : before.original(of: root, in: resource.root)
                }
                let unchanged = former.flatMap { ConditionTuple($0, of: resource)?.bytes } ?? after
                steps[record] = ConditionStep(before: conditions[record] ?? unchanged, after: after)
            }
        }
    }

    /// Returns the records that an edit changed besides its own, sorted by resource and key.
    func changed(by report: Int) -> [OtherRecord] {
        (records[report] ?? []).sorted { a, b in
            a.resource.name == b.resource.name ? a.key.precedes(b.key) : a.resource.name < b.resource.name
        }.map { record in
            var whole = record
            whole.step = steps[record]
            return whole
        }
    }

    // MARK: Reading

    /// Reads the keys, the tested columns and the references of root rows; other values are NULL.
    ///
    /// Other columns may have been dropped or contain values that cannot be decoded.
    private func roots(of resource: Resource, _ keys: [RecordKey]) throws(PushStop) -> [RecordKey: [Value]] {
        let root = resource.root
        let references = Set((resource.access?.steps ?? []).map(\.own))
        let positions = Set(0..<root.keyCount).union(resource.access?.columns ?? [])
            .union(root.columns.indices.filter { references.contains(root.columns[$0]) }).sorted()
        let columns = positions.map { root.columns[$0] }
        let addresses = keys.sorted { $0.precedes($1) }.map { key in
            zip(root.columns, key.parts).map { RawValue(column: $0, value: $1) }
        }
        let wanted = Set(keys)
        var rows: [RecordKey: [Value]] = [:]
        for start in stride(from: 0, to: addresses.count, by: SectionSQL.maximumBatch) {
            let batch = Array(addresses[start..<min(start + SectionSQL.maximumBatch, addresses.count)])
            let found = try run.query(
                RawSQL(run.dialect).select(
                    columns, from: root.table, whereAny: batch, locking: run.session.mustLockReads))
            for values in found {
                var row = [Value](repeating: .null, count: root.columns.count)
                for (position, value) in zip(positions, values) { row[position] = value }
                let key = root.key(of: row)
                // The database may equate other keys.
                if wanted.contains(key) { rows[key] = row }
            }
        }
        return rows
    }

    /// Records the tested values of records before another resource changes their root rows or the rows to which these
    /// refer.
    private mutating func recordConditions(
        of keys: [RecordKey], _ view: TableView, before: RowsBefore
    ) throws(PushStop) {
        let resource = view.resource
        guard view.section.kind == .root, resource.access?.columns.isEmpty == false else { return }
        let missing = keys.filter { conditions[OtherRecord(resource: resource, key: $0)] == nil }
        if missing.isEmpty { return }
        for (key, row) in try roots(of: resource, missing) where !before.isNew(row, in: view.section) {
            // An earlier edit of the same push may have changed the row.
            let tested = ConditionTuple(before.original(of: row, in: view.section) ?? row, of: resource)
            conditions[OtherRecord(resource: resource, key: key)] = tested?.bytes
        }
    }

    private mutating func find(_ row: WrittenRow, before: RowsBefore) throws(PushStop) {
        if row.address.isEmpty || row.address.contains(where: { $0.value == .null }) { return }
        var columns: [Column] = []
        let steps = isWritten ? row.views.flatMap(\.lookups) : []
        for column in row.views.flatMap(\.columns) + steps.map(\.own) where !columns.contains(column) {
            columns.append(column)
        }
        if columns.isEmpty { return }
        let found = try run.query(
            RawSQL(run.dialect).select(
                columns, from: row.table, where: row.address, locking: run.session.mustLockReads))
        for values in found {
            try note(values, columns, shownBy: row.views, row.report, before, isCertain: row.isCertain)
            for step in steps {
                guard let own = columns.firstIndex(of: step.own) else { continue }
                try share(step, values[own])
            }
        }
    }

    /// Locks a referred row against writes until the transaction ends.
    ///
    /// Otherwise a push that changes it at the same time would not find the record that refers to it now.
    private func share(_ step: ReferenceStep, _ value: Value) throws(PushStop) {
        if value.isNull || run.dialect.sharedLockingClause.isEmpty { return }
        _ = try run.query(
            RawSQL(run.dialect).share(
                [step.key], of: step.table, where: [RawValue(column: step.key, value: value)]))
    }

    private mutating func note(
        _ row: [Value], _ columns: [Column], shownBy views: [TableView], _ report: Int, _ before: RowsBefore,
        isCertain: Bool = true
    ) throws(PushStop) {
        for view in views {
            let values = view.columns.compactMap { wanted in
                (columns.firstIndex(of: wanted) ?? columns.firstIndex { $0.isNamed(wanted.name) }).map {
                    wanted.converted(row[$0], from: columns[$0])
                }
            }
            guard values.count == view.columns.count, !values.isEmpty, !values.contains(.null) else { continue }
            if let key = view.key(values) {
                let record = OtherRecord(resource: view.resource, key: key)
                if !isWritten { try recordConditions(of: [key], view, before: before) }
                records[report, default: []].insert(record)
            } else if let step = view.step {
                let keys = try keys(of: view, referring: step, to: values, isCertain: isCertain)
                if !isWritten, view.decidesAccess { try recordConditions(of: keys, view, before: before) }
                for key in keys {
                    records[report, default: []].insert(OtherRecord(resource: view.resource, key: key))
                }
            } else if view.section.kind != .root {
                for key in try keys(of: view, linkedBy: values) {
                    records[report, default: []].insert(OtherRecord(resource: view.resource, key: key))
                }
            }
        }
    }

    /// Returns the keys of the records that contain rows which refer to a row.
    ///
    /// - Throws: a refusal if too many records would move between clients.
    private func keys(
        of view: TableView, referring step: ReferenceStep, to values: [Value], isCertain: Bool
    ) throws(PushStop) -> [RecordKey] {
        let own = TableView(resource: view.resource, section: view.section)
        let links = own.columns
        let most = view.decidesAccess ? Self.mostReferring : Self.mostShowing
        guard let value = values.first, !links.isEmpty else { return [] }
        let rows = try run.query(
            RawSQL(run.dialect).select(
                links + [step.own], from: view.section.table, where: [RawValue(column: step.own, value: value)],
                locking: run.session.mustLockReads, limit: most + 1))
        if rows.count > most {
            // The scan reports changes of triggers.
            guard isCertain else { return [] }
            throw .store(Self.tooManyReferring(view))
        }
        var keys: [RecordKey] = []
        // The database may equate other values.
        for row in rows where row.last == value {
            let link = Array(row.prefix(links.count))
            if link.contains(.null) { continue }
            if let key = own.key(link) {
                keys.append(key)
            } else if view.section.kind != .root {
                keys += try self.keys(of: own, linkedBy: link)
            }
        }
        return keys
    }

    private static func tooManyReferring(_ view: TableView) -> StoreError {
        let name = view.resource.name
        let reason =
            view.decidesAccess
            ? "more than \(mostReferring) records of “\(name)” refer to the row, and it decides which clients see them"
            : "more than \(mostShowing) records of “\(name)” show the row in lookups"
        return StoreError(.tooLarge, reason + "; let another program write it, so that the scan reports them")
    }

    /// Returns the keys of the records to which other columns than the key link a row.
    private func keys(of view: TableView, linkedBy values: [Value]) throws(PushStop) -> [RecordKey] {
        guard view.resource.root.keyCount > 0 else { return [] }
        let rows = try run.query(
            view.preselection(ofRecordsLinkedBy: values, run.dialect, locking: run.session.mustLockReads))
        return view.records(in: rows, linkedBy: values)
    }
}

struct OtherRecord: Hashable {
    let resource: Resource
    let key: RecordKey
    var step: ConditionStep?

    static func == (a: OtherRecord, b: OtherRecord) -> Bool {
        a.resource.origin == b.resource.origin && a.key == b.key
    }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension Column {
    fileprivate func isNamed(_ name: String) -> Bool { self.name.lowercased() == name.lowercased() }
}
