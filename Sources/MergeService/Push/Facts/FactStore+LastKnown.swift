import MergeCore
import RecordStore

/// The last known values of a deleted row.
struct LastKnown {
    /// The values by the position of their field in the section.
    var fields: [Int: Value] = [:]
    /// All columns of the deleted row; nil if no deletion was recorded.
    var row: RawRow?
    /// True if the row never belonged to this record for the client: its record was another, or hidden from the
    /// client.
    var isForeign = false
}

/// Last known values of deleted rows, from this push and the journal.
extension FactStore {
    /// Returns the journal's last values of a row.
    mutating func lastKnown(_ missing: MissingRow) throws(PushStop) -> LastKnown {
        let (row, key, root) = (missing.row, missing.key, missing.root)
        let section = row.section
        guard let journal = run.journal else { return LastKnown() }
        let name = section.kind == .root ? missing.record : key
        do throws(StoreError) {
            var known = LastKnown.Search(
                try trail(of: row, key: key, record: missing.record, in: journal), section: section)
            // Entries of other resources whose root is this row.
            let isChecked = isChecked(section, of: row)
            for other in active.catalog.resources {
                guard let name, other.name != row.resource.name,
                    section.showsRows(of: other.root, in: active.footprints)
                else { continue }
                let root = EntryRow(section: 0, key: nil)
                let trails = try trails(
                    of: [root], in: RecordName(resource: other.name, record: journal.codec.key(name, other.root)),
                    of: other, in: journal
                ) { _, _ in !isChecked }
                if let trail = trails[root] { known.add(trail, of: other.root) }
            }
            return known.end { !section.contains($0, in: root) }
        } catch {
            throw .store(error)
        }
    }

    /// True if the client may read this row only from entries in which its record was visible to the client.
    private func isChecked(_ section: Section, of row: EditedRow) -> Bool {
        section.kind != .root && run.view(of: row.index)?.seesEveryRow == false
    }

    /// Reads the entries once for all rows of the record that the push may restore.
    private mutating func trail(
        of row: EditedRow, key: RecordKey?, record: RecordKey, in journal: Journal
    ) throws(StoreError) -> RowTrail {
        let wanted = EntryRow(section: row.edit.section, key: key)
        let name = RecordName(resource: row.resource.name, record: journal.codec.key(record, row.resource.root))
        let owner = run.batch.owners[row.index]
        if trails[name]?.owner != owner { trails[name] = KnownTrails(owner: owner) }
        if let trail = trails[name]?.rows[wanted] { return trail }
        // Rows without a key in their edit are searched alone.
        let isFirst = trails[name]?.rows.isEmpty == true
        let rows = (isFirst ? restorable(record, of: row.resource, by: owner) : []).union([wanted])
        let view = run.view(of: row.index)
        let found = try trails(of: rows, in: name, of: row.resource, in: journal) { row, conditions in
            guard row.section > 0, let view, !view.seesEveryRow else { return true }
            return conditions?.allSatisfy { !view.grants(onConditions: $0.values).isEmpty } ?? false
        }
        trails[name]?.rows.merge(found) { $1 }
        return found[wanted] ?? RowTrail()
    }

    private func restorable(_ record: RecordKey, of resource: Resource, by owner: Int) -> Set<EntryRow> {
        var rows: Set<EntryRow> = []
        for edit in run.plan.push.edits[run.batch.ranges[owner]]
        where edit.resource === resource && edit.id.key == record {
            for row in edit.rows {
                let section = resource.sections[row.section]
                guard section.onMissing.value == .restore, case .edit = row.action else { continue }
                if section.kind != .list {
                    rows.insert(EntryRow(section: row.section, key: nil))
                } else if let key = row.id?.key {
                    rows.insert(EntryRow(section: row.section, key: key))
                }
            }
        }
        return rows
    }

    /// Reads the entries of a record once and returns the traces of all given rows.
    ///
    /// - Parameter mayTell: returns true if the client may read a row from an entry with these tested values.
    private func trails(
        of rows: Set<EntryRow>, in name: RecordName, of resource: Resource, in journal: Journal,
        mayTell: (EntryRow, [ConditionTuple]?) -> Bool
    ) throws(StoreError) -> [EntryRow: RowTrail] {
        var open = rows
        var trails = Dictionary(uniqueKeysWithValues: rows.map { ($0, RowTrail()) })
        let columns = { [active] section in
            active.schema.tables[resource.sections[section].table]?.restorableColumns ?? []
        }
        try RecordHistory(journal: journal, session: run.session).read(name) { author, entry in
            let traces = journal.codec.traces(entry, resource, open, columns)
            for (row, events) in traces.rows {
                if mayTell(row, traces.conditions) {
                    trails[row]?.add(events, of: author.entry)
                } else {
                    trails[row]?.foreign = author.entry
                }
                if trails[row]?.isWhole == true { open.remove(row) }
            }
            return !open.isEmpty
        }
        return trails
    }
}

extension LastKnown {
    fileprivate struct Search {
        private let section: Section
        private var trails: [(trail: RowTrail, fields: [Int: Int])]

        init(_ trail: RowTrail, section: Section) {
            self.section = section
            let same = Dictionary(uniqueKeysWithValues: section.fields.indices.map { ($0, $0) })
            trails = [(trail, same)]
        }

        /// Fields of the other resource count if their columns are the same.
        mutating func add(_ trail: RowTrail, of other: Section) {
            var fields: [Int: Int] = [:]
            for (index, field) in section.fields.enumerated() {
                let column = section.columns[field.column]
                fields[index] = other.fields.firstIndex { other.columns[$0.column] == column }
            }
            trails.append((trail, fields))
        }

        /// A deletion contains the whole row, so older entries do not count.
        func end(isForeign: (RawRow) -> Bool) -> LastKnown {
            let deletion = trails.compactMap(\.trail.deletion).max { $0.entry < $1.entry }
            let foreign = trails.compactMap(\.trail.foreign).max() ?? 0
            if foreign > deletion?.entry ?? 0 { return LastKnown(isForeign: true) }
            var known = LastKnown()
            for index in section.fields.indices {
                let values = trails.compactMap { trail, fields in fields[index].flatMap { trail.fields[$0] } }
                guard let last = values.max(by: { $0.entry < $1.entry }), last.entry >= deletion?.entry ?? 0
                else { continue }
                known.fields[index] = last.value
            }
            known.row = deletion?.row
            known.isForeign = deletion.map { isForeign($0.row) } ?? false
            return known
        }
    }
}
