/// A row of the current record.
struct CurrentRow {
    let label: RowLabel?
    let sample: SampleRow
    /// The values, parallel to the section's `columns`; NULL if the sample omits the column.
    let values: [Value]

    init(_ sample: SampleRow, label: RowLabel?, in section: Section) throws(RecordFault) {
        self.label = label
        self.sample = sample
        values = try SampleValues(section: section).current(sample, label)
    }

    func shown(_ section: Section) -> Shown {
        let fields = sample.values.keys.sorted()
        return .fields(fields, fields.map { values[section.fields[$0].column] })
    }

    /// Returns true if the section's identity columns match a created row.
    ///
    /// Both rows are of one record, so the parent columns always match.
    func isMeant(by action: RowAction, in section: Section) -> Bool {
        guard case .create(let new) = action, let identity = section.identity?.value else { return false }
        return identity.allSatisfy { column in
            if section.parent.contains(where: { $0.column == column }) { return true }
            let sent = zip(new.fields, new.values).first { section.fields[$0.0].column == column }
            return sent.map { !$0.1.isNull && $0.1 == values[column] } ?? false
        }
    }
}
