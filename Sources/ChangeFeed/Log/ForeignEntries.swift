import MergeCore
import MergeService
import RecordStore

/// The journal entries of rows that other programs changed.
///
/// An entry contains the rows of one record that one transaction changed, each row once. A row that moves to another
/// record, or gets another key, is deleted under its former key and inserted under the new key.
struct ForeignEntries {
    /// The maximum bytes of an entry; a longer one names the changed fields only.
    static let longest = 1 << 20

    /// A row with its records before and after the change.
    struct ChangedRow {
        let images: RowImages
        let former: (key: RecordKey, records: [RecordKey])?
        let now: (key: RecordKey, records: [RecordKey])?
    }

    private struct Place: Hashable {
        let transaction: Int
        let resource: String
        let record: RecordKey
    }

    private struct RowInEntry {
        let transaction: Int
        let resource: Resource
        let record: RecordKey
        let row: EntryRow
    }

    private struct Open {
        let resource: Resource
        let record: RecordKey
        var outcomes: [Outcome] = []
        var rows: Set<EntryRow> = []
    }

    private var entries: [Open] = []
    private var open: [Place: Int] = [:]

    var isEmpty: Bool { entries.isEmpty }

    // MARK: Rows

    mutating func add(_ row: ChangedRow, of unit: ScanUnit) {
        guard let section = unit.resource.sections.firstIndex(where: { $0 === unit.section }) else { return }
        let former = row.former?.records ?? []
        let now = row.now?.records ?? []
        let keepsKey = row.former?.key == row.now?.key
        let place = { (record: RecordKey, key: RecordKey?) in
            RowInEntry(
                transaction: row.images.transaction, resource: unit.resource, record: record,
                row: EntryRow(section: section, key: unit.section.kind == .list ? key : nil))
        }
        for record in former where !keepsKey || !now.contains(record) {
            add([deletion(row.images, in: section, of: unit)], to: place(record, row.former?.key))
        }
        for record in now where !keepsKey || !former.contains(record) {
            add([insertion(row.images, in: section, of: unit)], to: place(record, row.now?.key))
        }
        guard keepsKey else { return }
        for record in now where former.contains(record) {
            add(updates(row.images, in: section, of: unit), to: place(record, row.now?.key))
        }
    }

    private mutating func add(_ outcomes: [Outcome], to target: RowInEntry) {
        if outcomes.isEmpty { return }
        let row = target.row
        let place = Place(
            transaction: target.transaction, resource: target.resource.name, record: target.record)
        var index = open[place]
        if let known = index, entries[known].rows.contains(row) { index = nil }
        if index == nil {
            entries.append(Open(resource: target.resource, record: target.record))
            index = entries.count - 1
        }
        guard let index else { return }
        open[place] = index
        entries[index].rows.insert(row)
        let placed = outcomes.map { outcome in
            var outcome = outcome
            outcome.item = row.key.map { .key($0) }
            return outcome
        }
        // As in the entry of a push, the record is before its items.
        if row.section == 0 {
            entries[index].outcomes = placed + entries[index].outcomes
        } else {
            entries[index].outcomes += placed
        }
    }

    private func updates(_ images: RowImages, in section: Int, of unit: ScanUnit) -> [Outcome] {
        let rules = unit.section
        return rules.groups.indices.compactMap { index in
            let fields = rules.fields[rules.groups[index].fields]
            let columns = fields.map(\.column)
            guard columns.contains(where: images.changes) else { return nil }
            guard let values = images.values(of: columns) else {
                var outcome = Outcome(.applied, section: section, group: index)
                outcome.unlogged = fields.map(\.name)
                return outcome
            }
            let (before, after) = (Shown.group(values.before), Shown.group(values.after))
            return Outcome(
                .applied, section: section, group: index,
                sides: Sides(base: before, current: before, edited: after, written: after))
        }
    }

    private func insertion(_ images: RowImages, in section: Int, of unit: ScanUnit) -> Outcome {
        let (row, unlogged) = Self.fields(images.after, of: unit.section)
        var outcome = Outcome(
            .inserted, section: section, sides: Sides(base: .null, current: .null, edited: row, written: row))
        outcome.unlogged = unlogged
        return outcome
    }

    private func deletion(_ images: RowImages, in section: Int, of unit: ScanUnit) -> Outcome {
        let (row, unlogged) = Self.fields(images.before, of: unit.section)
        var outcome = Outcome(
            .deleted, section: section, sides: Sides(base: row, current: row, edited: .null, written: .null))
        let restored = images.restored.compactMap { part in part.value.map { RawValue(column: part.column, value: $0) }
        }
        let missing = images.restored.filter { $0.value == nil }.map(\.column.name)
        outcome.unlogged = unlogged + missing.filter { !unlogged.contains($0) }
        if !images.restored.isEmpty { outcome.wholeRow = RawRow(values: restored) }
        return outcome
    }

    private static func fields(_ values: [Value?]?, of section: Section) -> (row: Shown, unlogged: [String]) {
        var known: [(field: Int, value: Value)] = []
        var unlogged: [String] = []
        for (index, field) in section.fields.enumerated() where section.columns[field.column].lookup == nil {
            if let value = values?[field.column] { known.append((index, value)) } else { unlogged.append(field.name) }
        }
        return (.fields(known.map(\.field), known.map(\.value)), unlogged)
    }

    // MARK: Entries

    /// The effects of each entry, as if a push had made them.
    var results: [EditResult] { entries.map { Self.result(of: $0, with: $0.outcomes) } }

    /// Returns the entries in the form of the journal.
    func drafts(under catalog: Catalog, for journal: Journal) -> [JournalDraft] {
        let longest = min(Self.longest, journal.longestBody ?? .max)
        return entries.map { open in
            let edit = Self.result(of: open, with: open.outcomes)
            var body = journal.codec.entry(edit, catalog, nil)
            if body.count > longest {
                body = journal.codec.entry(
                    Self.result(of: open, with: open.outcomes.map { Self.bare($0, of: open) }), catalog, nil)
            }
            let kinds = Set(open.outcomes.map(\.kind.rawValue)).sorted()
            let entry = JournalEntry(
                resource: open.resource.name, record: journal.codec.key(open.record, open.resource.root),
                status: PushStatus.merged.rawValue, outcomes: "," + kinds.joined(separator: ",") + ",",
                rules: catalog.version, body: body, changed: [])
            return JournalDraft(
                sender: .foreignProgram, key: nil, name: nil, answer: nil, refused: nil, entries: [entry])
        }
    }

    private static func result(of open: Open, with outcomes: [Outcome]) -> EditResult {
        EditResult(resource: open.resource, id: .key(open.record), status: .merged, outcomes: outcomes)
    }

    /// Returns an outcome that only names its fields.
    private static func bare(_ outcome: Outcome, of open: Open) -> Outcome {
        let section = open.resource.sections[outcome.section]
        let fields = outcome.group.map { section.fields[section.groups[$0].fields] } ?? section.fields[...]
        var bare = Outcome(outcome.kind, section: outcome.section, group: outcome.group)
        bare.item = outcome.item
        bare.unlogged = fields.map(\.name)
        return bare
    }
}
