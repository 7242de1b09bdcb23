import MergeCore
import RecordStore

/// Finds in the journal who wrote what conflicts met.
struct AuthorSearch {
    let journal: Journal?
    let active: ActiveRules
    /// Of the transaction at hand, in which the journal is read where it takes part.
    let session: any StoreSession
    /// Entries of one record that are looked through.
    private static let entriesToLookAt = 200

    /// Returns a result whose conflicts tell who wrote what they met.
    func told(_ result: PushResult) throws(StoreError) -> PushResult {
        var results: [EditResult] = []
        for edit in result.results { results.append(try told(edit)) }
        return PushResult(key: result.key, status: result.status, results: results)
    }

    private func told(_ edit: EditResult) throws(StoreError) -> EditResult {
        guard edit.outcomes.contains(where: \.isConflict) else { return edit }
        var outcomes = edit.outcomes
        for index in outcomes.indices where outcomes[index].isConflict {
            outcomes[index].authorship = Authorship(author: try author(of: outcomes[index], in: edit))
        }
        return EditResult(
            resource: edit.resource, id: edit.id, status: edit.status, record: edit.record, ids: edit.ids,
            outcomes: outcomes, problem: edit.problem, access: edit.access)
    }

    private func author(of outcome: Outcome, in edit: EditResult) throws(StoreError) -> Authorship.Author? {
        guard let journal else { return nil }
        let places = places(of: outcome, in: edit, journal.codec)
        guard !places.isEmpty else { return nil }
        let question = journal.tables.writers(of: places.map(\.name), limit: Self.entriesToLookAt)
        for row in try rows(journal, question) {
            guard let (name, author, entry) = journal.tables.writer(row),
                let place = places.first(where: { $0.name == name }),
                let write = journal.codec.write(entry, place.resource, place.section, place.key, place.group)
            else { continue }
            return Self.is(write, what: outcome.sides?.current) ? author : nil
        }
        return nil
    }

    private func rows(_ journal: Journal, _ question: Statement) throws(StoreError) -> [[Value]] {
        guard let ahead = journal.ahead else { return try session.query(question) }
        return try ahead.writeNow { session throws(StoreError) in try session.query(question) }
    }

    /// The place in which entries tell of the row that an outcome is about.
    private struct Place {
        let name: RecordName
        let resource: Resource
        let section: Int
        let key: RecordKey?
        let group: Int?
    }

    private func places(of outcome: Outcome, in edit: EditResult, _ codec: JournalCodec) -> [Place] {
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
                    resource: resource, section: outcome.section, key: item, group: outcome.group))
        }
        // The same row may be the root of other records.
        guard let name = section.kind == .root ? record : item else { return places }
        for view in active.views[section.table]
        where view.section.kind == .root && view.resource !== resource && view.section.keyCount == section.keyCount {
            let group = outcome.group.flatMap { Self.group($0, of: section, in: view.section) }
            if outcome.group != nil, group == nil { continue }
            places.append(
                Place(
                    name: RecordName(resource: view.resource.name, record: codec.key(name, view.section)),
                    resource: view.resource, section: 0, key: nil, group: group))
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

    /// Returns true where a write left what stood when the conflict met it.
    private static func `is`(_ write: WriteTrace, what current: Shown?) -> Bool {
        switch (write, current) {
        case (.group(let written), .group(let values)?): written == values
        case (.deleted, .null?), (.deleted, nil): true
        case (.deleted, _), (_, .null?): false
        case (.something, _), (.group, _): true
        }
    }
}
