enum SampleRows {
    /// The root or a singleton, which may have no row.
    case one(SampleRow?)
    case many([SampleRow])

    var one: SampleRow? {
        if case .one(let row) = self { row } else { nil }
    }

    var many: [SampleRow] {
        if case .many(let rows) = self { rows } else { [] }
    }
}
