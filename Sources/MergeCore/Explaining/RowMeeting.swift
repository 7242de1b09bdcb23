/// One row of a section in the base and in the edited record.
struct RowMeeting {
    /// The presence of a row in a record.
    enum Mention {
        /// The record omits the section.
        case unsent
        /// The section has no such row.
        case none
        case row(SampleRow)

        init(_ row: SampleRow?) {
            self = row.map { .row($0) } ?? .none
        }
    }

    let base: Mention
    let edited: Mention

    /// Returns the client's change to the row, if any.
    func action(_ values: SampleValues) throws(RecordFault) -> RowAction? {
        switch (base, edited) {
        case (.unsent, _), (_, .unsent), (.none, .none): nil
        case (.none, .row(let new)): .create(try values.created(new))
        case (.row(let old), .none): .delete(try values.deleted(old))
        case (.row(let old), .row(let new)): .edit(try values.changed(base: old, edited: new))
        }
    }
}
