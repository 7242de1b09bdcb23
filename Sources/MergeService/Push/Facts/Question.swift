import MergeCore

/// A fact about the database that the decision on a row needs.
enum Question: Hashable {
    /// The row with a key.
    case row(SectionPlace, RecordKey)
    /// The rows whose key the database considers equal to this one.
    case equatedRows(SectionPlace, RecordKey)
    /// The row that these values link to a record, in a section with one row per record.
    case singleton(SectionPlace, link: [Value])
    /// The rows that these values link to a record.
    case rows(SectionPlace, link: [Value])
    /// The rows with a natural key, also rows that the rules hide.
    case identity(SectionPlace, columns: [Int], values: [Value])
    /// Whether the rules hide the row with an address from every client.
    case hidden(SectionPlace, RecordKey)
    /// Whether the rules froze the row with an address before the push.
    case frozen(SectionPlace, RecordKey)
    /// The rows that the database would delete or change along with the deletion of a row.
    case cascades(SectionPlace, row: [Value])
    /// The journal's last values of a row that does not exist any more.
    case lastKnown(MissingRow)
}

/// A section of a resource.
struct SectionPlace: Hashable {
    let id: SectionID
    let section: Section

    init(_ resource: Resource, _ position: Int) {
        id = SectionID(resource: resource.name, section: position)
        section = resource.sections[position]
    }

    static func == (a: SectionPlace, b: SectionPlace) -> Bool { a.id == b.id }

    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// A row of an edit that does not exist any more.
struct MissingRow: Hashable {
    let row: EditedRow
    /// The key of the row; nil in singletons, which their record identifies.
    let key: RecordKey?
    let record: RecordKey
    /// The row of the record; nil if that row is the missing one.
    let root: [Value]?

    static func == (a: MissingRow, b: MissingRow) -> Bool {
        a.row.edit === b.row.edit && a.row.index == b.row.index && a.key == b.key && a.record == b.record
            && a.root == b.root
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(row.index)
        hasher.combine(key)
        hasher.combine(record)
    }
}

/// The reason why a decision cannot be made yet, or ever.
enum DecidingStop: Error {
    /// The decision needs the answers to these questions first.
    case unanswered([Question])
    /// The rules or the state of the database refuse the edit.
    case refused(Problem)
    /// A fault of the request that only the database could show (400).
    case fault(Problem)

    static func unanswered(_ question: Question) -> DecidingStop { .unanswered([question]) }
}
