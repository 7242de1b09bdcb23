import MergeCore
import RecordStore

/// The answers of the database to the questions of a run, with the times of their reading.
struct Facts {
    struct Found {
        let rows: [[Value]]
        /// The time of the read in `RowChanges`.
        let time: Int
    }

    /// The rows as they were before the push.
    var before: RowsBefore
    /// The rows that edits name by key.
    private(set) var rows = RowContext()
    private(set) var found: [Question: Found] = [:]
    private(set) var cascades: [Question: (rows: [Cascade], time: Int)] = [:]
    private(set) var lastKnown: [MissingRow: LastKnown] = [:]

    init(_ run: RunEnvironment) {
        before = RowsBefore(run)
    }

    /// Stores the rows with some keys.
    ///
    /// - Throws: `StoreError` if one key has several rows.
    mutating func store(
        _ found: [[Value]], askedFor keys: [RecordKey], of place: SectionPlace, at time: Int
    ) throws(StoreError) {
        guard rows.store(found, askedFor: keys, of: place.section, as: place.id, at: time) else {
            throw StoreError.ambiguous(place.section)
        }
    }

    mutating func store(_ rows: [[Value]], for question: Question, at time: Int) {
        found[question] = Found(rows: rows, time: time)
    }

    mutating func store(_ rows: [Cascade], for question: Question, at time: Int) { cascades[question] = (rows, time) }

    mutating func store(_ known: LastKnown, of missing: MissingRow) { lastKnown[missing] = known }
}
