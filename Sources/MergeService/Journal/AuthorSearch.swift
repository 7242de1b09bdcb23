import MergeCore
import RecordStore

/// Finds the authors of the values that conflicts met.
struct AuthorSearch {
    let journal: Journal?
    let active: ActiveRules
    /// The session of the merge, which also reads the journal if both share a database.
    let session: any StoreSession

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
            let write = last[index].flatMap { isCurrent($0.write, outcome: outcomes[index], of: section) ? $0 : nil }
            outcomes[index].authorship = Authorship(author: write?.author)
        }
        return EditResult(
            resource: edit.resource, id: edit.id, status: edit.status, record: edit.record, ids: edit.ids,
            outcomes: outcomes, problem: edit.problem, access: edit.access)
    }

    /// A conflict with its group; the group is nil for the whole row.
    private struct Spot {
        let edit: Int
        let outcome: Int
        let group: Int?
    }

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

    /// Reads the entries once for all conflicts of the record.
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
                    // Another resource may have written the row later.
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
        // The same row may be the root of records of other resources.
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

    private static func group(_ group: Int, of section: Section, in other: Section) -> Int? {
        func columns(_ group: Group, _ section: Section) -> [String] {
            group.fields.map { section.columns[section.fields[$0].column].name }
        }
        let wanted = columns(section.groups[group], section)
        return other.groups.firstIndex { columns($0, other) == wanted }
    }

    /// Returns true if the conflict found the values of this write, so that no other program has changed them.
    private func isCurrent(_ write: WriteTrace, outcome: Outcome, of section: Section) -> Bool {
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
    fileprivate func columns(of section: Section, group: Int?) -> [(column: Column, value: Value)] {
        func columns(_ fields: some Sequence<Int>, _ values: [Value]) -> [(column: Column, value: Value)] {
            zip(fields, values).map { (section.columns[section.fields[$0].column], $1) }
        }
        switch self {
        case .null, .digest: return []
        case .group(let values): return group.map { columns(section.groups[$0].fields, values) } ?? []
        case .fields(let fields, let values): return columns(fields, values)
        case .row(let row):
            return zip(section.columns, row).filter { $0.0.lookup == nil }.map { (column: $0, value: $1) }
        }
    }
}
