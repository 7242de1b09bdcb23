import MergeCore
import RecordStore

/// Other records that contain a written row.
///
/// Resources may share a table, rows may move between records, and cascades may change rows of other records. A search
/// before the write and one after all writes find both the old and the new record.
extension PushTransaction {
    /// Rows that were written, for a later search of their records.
    struct ShownRows {
        let report: Int
        let views: [TableView]
        let table: TableName
        let address: [RawValue]
    }

    /// Collects the other records that contain a row which is about to change.
    ///
    /// - Parameter assignments: the columns that are written; nil for a deletion.
    func noteShown(
        _ row: EditedRow, in section: Section, current: [Value], writing assignments: [Assignment]?
    ) throws(StoreError) {
        guard isKept else { return }
        let views = active.views.others(than: section)
        if views.isEmpty { return }
        var sought: [TableView] = []
        var moved: [TableView] = []
        for other in views {
            if let positions = other.positions {
                // Usually the row's own columns contain the key of the record.
                if let key = other.view.key(positions.map { current[$0] }) {
                    let record = ShownRecord(resource: other.view.resource, key: key)
                    try noteConditions(of: record, other.view)
                    shown[row.index, default: []].insert(record)
                }
            } else {
                sought.append(other.view)
            }
            if let assignments, other.isMoved(by: assignments) { moved.append(other.view) }
        }
        if sought.isEmpty, moved.isEmpty { return }
        let address = address(of: current, in: section).map { part in
            RawValue(column: section.columns[part.column], value: part.value)
        }
        func rows(_ views: [TableView]) -> ShownRows {
            ShownRows(report: row.index, views: views, table: section.table, address: address)
        }
        if !sought.isEmpty { try findShown(rows(sought)) }
        if !moved.isEmpty { shownRows.append(rows(moved)) }
    }

    /// Records an inserted row for the search after all writes.
    func noteInsertedRow(_ row: EditedRow, key: RecordKey, root: [Value]?) {
        let section = row.section
        guard isKept else { return }
        let views = active.views.others(than: section).map(\.view)
        if views.isEmpty { return }
        var address = zip(section.columns, key.parts).map { RawValue(column: $0, value: $1) }
        if address.isEmpty, let root {
            address = section.parent.map { link in
                RawValue(column: section.columns[link.column], value: root[link.rootColumn])
            }
        }
        shownRows.append(ShownRows(report: row.index, views: views, table: section.table, address: address))
    }

    /// Collects the records that contain rows which the database deletes, changes or restores.
    func noteShown(_ cascades: [Cascade], report: Int) throws(StoreError) {
        guard isKept else { return }
        for cascade in cascades {
            let views = active.views[cascade.table]
            for row in views.isEmpty ? [] : cascade.rows {
                try note(row, cascade.columns, shownBy: views, report)
            }
        }
    }

    /// Collects the records that contain cascaded rows, before and after the change.
    func noteShown(_ steps: [CascadeFinder.Step], report: Int) throws(StoreError) {
        try noteShown(steps.map(\.cascade), report: report)
        guard isKept else { return }
        for step in steps where step.cascade.effect == .update {
            let cascade = step.cascade
            let views = active.views[cascade.table]
            guard !views.isEmpty, active.schema.tables[cascade.table]?.primaryKey.isEmpty == false else { continue }
            for row in step.after ?? [] {
                let address = zip(cascade.columns, row).prefix(cascade.nameCount).map {
                    RawValue(column: $0, value: $1)
                }
                shownRows.append(ShownRows(report: report, views: views, table: cascade.table, address: address))
            }
        }
    }

    func findShown() throws(StoreError) {
        isWritten = true
        defer { shownRows = [] }
        for rows in shownRows where !excluded.contains(batch.owners[rows.report]) && reports[rows.report].isMerged {
            try findShown(rows)
        }
        for record in Set(shown.values.joined()) where record.resource.access?.columns.isEmpty == false {
            let after = try conditions(of: record)
            // A write that did not change the root row left the tested values as they were.
            shownSteps[record] = ConditionStep(before: shownBefore[record] ?? after, after: after)
        }
    }

    private func conditions(of record: ShownRecord) throws(StoreError) -> [UInt8]? {
        try root(of: record).flatMap { ConditionTuple($0, of: record.resource)?.bytes }
    }

    /// Reads the key and the tested columns of a record's root row; other values are NULL.
    ///
    /// Other columns may have been dropped or contain values that cannot be decoded.
    private func root(of record: ShownRecord) throws(StoreError) -> [Value]? {
        let root = record.resource.root
        let positions = Set(0..<root.keyCount).union(record.resource.access?.columns ?? []).sorted()
        let address = zip(root.columns, record.key.parts).map { RawValue(column: $0, value: $1) }
        let found = try session.query(
            RawSQL(dialect).select(
                positions.map { root.columns[$0] }, from: root.table, where: address, locking: session.mustLockReads))
        for values in found {
            var row = [Value](repeating: .null, count: root.columns.count)
            for (position, value) in zip(positions, values) { row[position] = value }
            if root.key(of: row) == record.key { return row }
        }
        return nil
    }

    /// Records the tested values of a record before another resource changes its root row.
    private func noteConditions(of record: ShownRecord, _ view: TableView) throws(StoreError) {
        guard view.section.kind == .root, record.resource.access?.columns.isEmpty == false,
            shownBefore[record] == nil
        else { return }
        // An earlier edit of the same push may have changed the row.
        guard let row = try root(of: record), !isNew(row, in: view.section) else { return }
        shownBefore[record] =
            ConditionTuple(original(of: row, in: view.section) ?? row, of: record.resource)?.bytes
    }

    private func findShown(_ rows: ShownRows) throws(StoreError) {
        if rows.address.isEmpty || rows.address.contains(where: { $0.value == .null }) { return }
        var columns: [Column] = []
        for column in rows.views.flatMap(\.columns) where !columns.contains(where: { $0.isNamed(column.name) }) {
            columns.append(column)
        }
        if columns.isEmpty { return }
        let found = try session.query(
            RawSQL(dialect).select(columns, from: rows.table, where: rows.address, locking: session.mustLockReads))
        for row in found { try note(row, columns, shownBy: rows.views, rows.report) }
    }

    private func note(
        _ row: [Value], _ columns: [Column], shownBy views: [TableView], _ report: Int
    ) throws(StoreError) {
        for view in views {
            let values = view.columns.compactMap { wanted in
                columns.firstIndex { $0.isNamed(wanted.name) }.map { row[$0] }
            }
            guard values.count == view.columns.count, !values.isEmpty, !values.contains(.null) else { continue }
            if let key = view.key(values) {
                let record = ShownRecord(resource: view.resource, key: key)
                if !isWritten { try noteConditions(of: record, view) }
                shown[report, default: []].insert(record)
            } else if view.section.kind != .root {
                for key in try records(of: view, linkedBy: values) {
                    shown[report, default: []].insert(ShownRecord(resource: view.resource, key: key))
                }
            }
        }
    }

    /// Returns the keys of the records to which other columns than the key link a row.
    private func records(of view: TableView, linkedBy values: [Value]) throws(StoreError) -> [RecordKey] {
        guard view.resource.root.keyCount > 0 else { return [] }
        let rows = try session.query(
            view.preselection(ofRecordsLinkedBy: values, dialect, locking: session.mustLockReads))
        return view.records(in: rows, linkedBy: values)
    }

    /// Returns the records that an edit changed besides its own, sorted by resource and key.
    func changedElsewhere(_ report: Int) -> [ShownRecord] {
        (shown[report] ?? []).sorted { a, b in
            a.resource.name == b.resource.name ? a.key.precedes(b.key) : a.resource.name < b.resource.name
        }.map { record in
            var whole = record
            whole.step = shownSteps[record]
            return whole
        }
    }
}

struct ShownRecord: Hashable {
    let resource: Resource
    let key: RecordKey
    var step: ConditionStep?

    static func == (a: ShownRecord, b: ShownRecord) -> Bool {
        a.resource.origin == b.resource.origin && a.key == b.key
    }

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension Column {
    fileprivate func isNamed(_ name: String) -> Bool { self.name.lowercased() == name.lowercased() }
}
