/// A row that the current record holds.
struct CurrentRow {
    let label: RowLabel?
    let sample: SampleRow
    /// Parallel to the section's `columns`, NULL where the sample says nothing.
    let values: [Value]

    init(_ sample: SampleRow, label: RowLabel?, in section: Section) throws(RecordFault) {
        self.label = label
        self.sample = sample
        values = try SampleValues(section: section).current(sample, label)
    }

    /// The fields that the sample holds.
    func shown(_ section: Section) -> Shown {
        let fields = sample.values.keys.sorted()
        return .fields(fields, fields.map { values[section.fields[$0].column] })
    }

    /// Returns true where a created row is this one, by the section's natural key.
    ///
    /// The parent's columns are the same by themselves, as both rows are of one record.
    func isMeant(by action: RowAction, in section: Section) -> Bool {
        guard case .create(let new) = action, let identity = section.identity?.value else { return false }
        return identity.allSatisfy { column in
            if section.parent.contains(where: { $0.column == column }) { return true }
            let sent = zip(new.fields, new.values).first { section.fields[$0.0].column == column }
            return sent.map { !$0.1.isNull && $0.1 == values[column] } ?? false
        }
    }
}
