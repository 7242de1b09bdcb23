/// A record as a file holds it, its members sorted by the rules and its values not yet converted.
struct SampleRecord {
    let id: Scalar?
    /// By position in the resource's `sections`; a section that the file leaves out is not there.
    let sections: [Int: SampleRows]
}

/// The rows of one section of a sample record.
enum SampleRows {
    /// The root, or a singleton, which may be without a row.
    case one(SampleRow?)
    case many([SampleRow])

    var one: SampleRow? {
        if case .one(let row) = self { row } else { nil }
    }

    var many: [SampleRow] {
        if case .many(let rows) = self { rows } else { [] }
    }
}

/// One row of a sample record.
struct SampleRow {
    let id: Scalar?
    /// By position in the section's `fields`.
    let values: [Int: Scalar]
    /// By position in the section's `readOnly`.
    let readOnly: [Int: Scalar]
    let path: WirePath

    /// Returns true where any field of a group stands in the row.
    func mentions(_ group: Group) -> Bool { group.fields.contains { values[$0] != nil } }
}
