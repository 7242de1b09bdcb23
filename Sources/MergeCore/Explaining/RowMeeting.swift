/// One row of a section as the base and the edited record show it, or do not.
struct RowMeeting {
    /// The mention of a row in a record.
    enum Mention {
        /// Its section was not sent.
        case unsent
        /// There is no such row.
        case none
        case row(SampleRow)

        init(_ row: SampleRow?) {
            self = row.map { .row($0) } ?? .none
        }
    }

    let base: Mention
    let edited: Mention

    /// Returns what the client wants of the row; nil where it wants nothing.
    func action(_ values: SampleValues) throws(RecordFault) -> RowAction? {
        switch (base, edited) {
        case (.unsent, _), (_, .unsent), (.none, .none): nil
        case (.none, .row(let new)): .create(try values.created(new))
        case (.row(let old), .none): .delete(try values.deleted(old))
        case (.row(let old), .row(let new)): .edit(try values.changed(base: old, edited: new))
        }
    }
}
