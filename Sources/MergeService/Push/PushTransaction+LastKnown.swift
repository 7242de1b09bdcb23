import MergeCore
import RecordStore

/// Rows that are gone, as this push and the journal know them.
extension PushTransaction {
    private static let entriesToLookAt = 200

    /// Values of a row that is gone.
    struct LastKnown {
        /// By the position of the field in its section.
        var fields: [Int: Value] = [:]
        /// All columns of the row as it was deleted; nil where no deletion is known.
        var row: RawRow?
        /// It was the row of another record, or of one that the client could not see: it has never been this record's.
        var isStrange = false
    }

    /// Returns what is last known of a row that an edit wants to bring back; nil where none is to come back.
    ///
    /// This push knows most, then the newest entries of the journal; what each of them leaves open an older one may tell,
    /// back to a deletion, which tells everything. Whichever resource showed the row then: it is the same one.
    ///
    /// - Parameters:
    ///   - key: of the row; nil in singletons, which are known by their record.
    ///   - root: the record's own row; nil where it is the one that is gone.
    func lastKnown(_ row: EditedRow, key: RecordKey?, of root: [Value]? = nil) throws -> LastKnown? {
        let section = row.section
        guard let journal, section.onMissing.value == .restore, case .edit = row.edit.action,
            let record = reports[row.index].key
        else { return nil }
        let name = section.kind == .root ? record : key
        if let name, let deleted = deletedHere(name, of: section) {
            return LastKnown(row: deleted, isStrange: !Self.belongs(deleted, section, to: root))
        }
        let view = section.kind == .root ? nil : view(of: row.index)
        let resource = row.resource
        // The record itself, and records of other resources whose root is the row.
        var places = [(resource: resource.name, record: journal.codec.key(record, resource.root))]
        for other in active.catalog.resources {
            guard let name, other.name != resource.name, showsRows(of: section, other.root) else { continue }
            places.append((other.name, journal.codec.key(name, other.root)))
        }
        let history = journal.tables.history(of: places, limit: Self.entriesToLookAt)
        let entries =
            try journal.ahead?.writeNow { ahead throws(StoreError) in try ahead.query(history) }
            ?? session.query(history)
        let columns = active.schema.tables[section.table]?.restorableColumns ?? []
        var known = LastKnown()
        for entry in entries {
            guard case .bytes(let body)? = entry.first, case .text(let resourceName)? = entry.last,
                let shown = active.catalog[resourceName.string]
            else { continue }
            let place = shown === resource ? row.edit.section : 0
            let item = shown === resource ? key : nil
            let traces = journal.codec.traces(body, shown, place, item, columns)
            if !traces.rows.isEmpty, let view, !view.seesEveryRow {
                // As one of its record the client has seen the row only where it could see the record then.
                guard shown === resource, let tuples = traces.conditions,
                    tuples.allSatisfy({ !view.grants(onConditions: $0.values).isEmpty })
                else { return LastKnown(isStrange: true) }
            }
            for trace in traces.rows.reversed() {
                switch trace {
                case .fields(let fields):
                    known.add(Self.fields(fields, shown.sections[place], in: section))
                case .whole(let fields, let whole):
                    known.add(Self.fields(fields, shown.sections[place], in: section))
                    known.row = whole
                    known.isStrange = !Self.belongs(whole, section, to: root)
                    return known
                }
            }
        }
        return known
    }

    /// Returns a row whole that an edit of this push deleted, through whichever resource.
    private func deletedHere(_ key: RecordKey, of section: Section) -> RawRow? {
        for report in reports.reversed() where !report.outcomes.isEmpty {
            for outcome in report.outcomes.reversed() where outcome.kind == .deleted {
                let other = report.resource.sections[outcome.section]
                guard let row = outcome.wholeRow, showsRows(of: section, other) else { continue }
                let isSame = zip(section.columns, key.parts).allSatisfy { column, value in
                    row.values.contains { $0.column.name == column.name && $0.value == value }
                }
                if isSame { return row }
            }
        }
        return nil
    }

    /// Returns true where a row of a section, as it was when it was deleted, hung on a record.
    private static func belongs(_ row: RawRow, _ section: Section, to root: [Value]?) -> Bool {
        guard let root, !section.isLinkedByText else { return true }
        return section.parent.allSatisfy { link in
            let known = row.values.first { $0.column.name == section.columns[link.column].name }
            return known.map { $0.value == root[link.rootColumn] } ?? true
        }
    }

    /// Returns true where two sections show the same table by the same key.
    private func showsRows(of section: Section, _ other: Section) -> Bool {
        active.footprints[other].table == active.footprints[section].table && other.keyCount == section.keyCount
            && zip(other.columns, section.columns).prefix(section.keyCount).allSatisfy { $0.name == $1.name }
    }

    /// Returns the values of fields of another section that are of one kind in this one.
    private static func fields(_ fields: [Int: Value], _ other: Section, in section: Section) -> [Int: Value] {
        if other === section { return fields }
        var found: [Int: Value] = [:]
        for (index, field) in section.fields.enumerated() {
            let column = section.columns[field.column]
            let match = fields.first { other.columns[other.fields[$0.key].column] == column }
            if let match { found[index] = match.value }
        }
        return found
    }
}

extension PushTransaction.LastKnown {
    /// Adds older values of fields that are not known yet.
    fileprivate mutating func add(_ older: [Int: Value]) {
        fields.merge(older) { newer, _ in newer }
    }
}
