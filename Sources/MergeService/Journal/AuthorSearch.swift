import MergeCore
import RecordStore

/// Finds in the journal who wrote what conflicts met.
struct AuthorSearch {
    let journal: Journal?
    let active: ActiveRules
    /// Of the transaction at hand, in which the journal is read where it takes part.
    let session: any StoreSession

    /// Returns a result whose conflicts tell who wrote what they met.
    func told(_ result: PushResult) throws(StoreError) -> PushResult {
        var wanted: [RecordName: Wanted] = [:]
        for (number, edit) in result.results.enumerated() {
            for (index, outcome) in edit.outcomes.enumerated() where outcome.isConflict {
                for place in places(of: outcome, in: edit) {
                    wanted[place.name, default: Wanted(place.resource)].rows[place.row, default: []].append(
                        Spot(edit: number, outcome: index, group: place.group))
                }
            }
        }
        var last: [Int: [Int: LastWrite]] = [:]
        for (name, wanted) in wanted { try find(wanted, of: name, &last) }
        let results = result.results.enumerated().map { number, edit in told(edit, last[number] ?? [:]) }
        return PushResult(key: result.key, status: result.status, results: results)
    }

    private func told(_ edit: EditResult, _ last: [Int: LastWrite]) -> EditResult {
        guard edit.outcomes.contains(where: \.isConflict) else { return edit }
        var outcomes = edit.outcomes
        for index in outcomes.indices where outcomes[index].isConflict {
            let section = edit.resource.sections[outcomes[index].section]
            let write = last[index].flatMap { isCurrent($0.write, outcomes[index], of: section) ? $0 : nil }
            outcomes[index].authorship = Authorship(author: write?.author)
        }
        return EditResult(
            resource: edit.resource, id: edit.id, status: edit.status, record: edit.record, ids: edit.ids,
            outcomes: outcomes, problem: edit.problem, access: edit.access)
    }

    /// A conflict, and the group of a place that it is about; nil for the row as a whole.
    private struct Spot {
        let edit: Int
        let outcome: Int
        let group: Int?
    }

    /// The conflicts about rows of one record.
    private struct Wanted {
        let resource: Resource
        var rows: [EntryRow: [Spot]] = [:]

        init(_ resource: Resource) {
            self.resource = resource
        }
    }

    private struct LastWrite {
        let author: Authorship.Author
        let write: WriteTrace
    }

    /// Looks through the entries of a record once, for all conflicts about its rows.
    private func find(
        _ wanted: Wanted, of name: RecordName, _ last: inout [Int: [Int: LastWrite]]
    ) throws(StoreError) {
        guard let journal else { return }
        let resource = wanted.resource
        var open = wanted.rows
        var rows = Set(open.keys)
        try RecordHistory(journal: journal, session: session).read(name) { author, entry in
            for (row, writes) in journal.codec.writes.writes(entry, resource, rows) {
                open[row]?.removeAll { spot in
                    guard let write = writes.last(to: spot.group, of: resource.sections[row.section]) else {
                        return false
                    }
                    // The same row may have been written through another resource since.
                    if author.entry > last[spot.edit]?[spot.outcome]?.author.entry ?? 0 {
                        last[spot.edit, default: [:]][spot.outcome] = LastWrite(author: author, write: write)
                    }
                    return true
                }
                if open[row]?.isEmpty == true { rows.remove(row) }
            }
            return !rows.isEmpty
        }
    }

    /// The place in which entries tell of the row that an outcome is about.
    private struct Place {
        let name: RecordName
        let resource: Resource
        let row: EntryRow
        let group: Int?
    }

    private func places(of outcome: Outcome, in edit: EditResult) -> [Place] {
        guard let codec = journal?.codec else { return [] }
        let resource = edit.resource
        let section = resource.sections[outcome.section]
        var item: RecordKey?
        if case .key(let key)? = outcome.item { item = key }
        var places: [Place] = []
        var record = edit.record?.key
        if case .key(let key)? = edit.id { record = key }
        if let record {
            places.append(
                Place(
                    name: RecordName(resource: resource.name, record: codec.key(record, resource.root)),
                    resource: resource, row: EntryRow(section: outcome.section, key: item), group: outcome.group))
        }
        // The same row may be the root of other records.
        guard let name = section.kind == .root ? record : item else { return places }
        for view in active.views[section.table]
        where view.section.kind == .root && view.resource.origin != resource.origin
            && view.section.keyCount == section.keyCount
        {
            let group = outcome.group.flatMap { Self.group($0, of: section, in: view.section) }
            if outcome.group != nil, group == nil { continue }
            places.append(
                Place(
                    name: RecordName(resource: view.resource.name, record: codec.key(name, view.section)),
                    resource: view.resource, row: EntryRow(section: 0, key: nil), group: group))
        }
        return places
    }

    /// Returns the group of another section over the same columns; nil where it has none.
    private static func group(_ group: Int, of section: Section, in other: Section) -> Int? {
        func columns(_ group: Group, _ section: Section) -> [String] {
            group.fields.map { section.columns[section.fields[$0].column].name }
        }
        let wanted = columns(section.groups[group], section)
        return other.groups.firstIndex { columns($0, other) == wanted }
    }

    /// Returns true if a write left what the conflict found; then no program has changed it since.
    private func isCurrent(_ write: WriteTrace, _ outcome: Outcome, of section: Section) -> Bool {
        let current = outcome.sides?.current ?? .null
        switch write {
        case .deleted: return current == .null
        case .unknown: return false
        case .columns(let written):
            let found = current.columns(of: section, group: outcome.group).compactMap { column, value in
                written[column.name].map { $0.holds(value, in: column, by: journal?.codec) }
            }
            return !found.isEmpty && !found.contains(false)
        }
    }
}

extension KeptValue {
    fileprivate func holds(_ value: Value, in column: Column, by codec: JournalCodec?) -> Bool {
        switch self {
        case .plain(let plain): plain == value
        case .digest(let digest): !value.isNull && codec?.writes.digest(value, column) == digest
        }
    }
}

extension Shown {
    /// The columns whose values it shows.
    fileprivate func columns(of section: Section, group: Int?) -> [(column: Column, value: Value)] {
        func columns(_ fields: some Sequence<Int>, _ values: [Value]) -> [(column: Column, value: Value)] {
            zip(fields, values).map { (section.columns[section.fields[$0].column], $1) }
        }
        switch self {
        case .null, .digest: return []
        case .group(let values): return group.map { columns(section.groups[$0].fields, values) } ?? []
        case .fields(let fields, let values): return columns(fields, values)
        case .row(let row): return Array(zip(section.columns, row)).map { (column: $0, value: $1) }
        }
    }
}
