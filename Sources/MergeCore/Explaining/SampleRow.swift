struct SampleRow {
    let id: Scalar?
    /// By position in the section's `fields`.
    let values: [Int: Scalar]
    /// By position in the section's `readOnly`.
    let readOnly: [Int: Scalar]
    let path: WirePath

    func mentions(_ group: Group) -> Bool { group.fields.contains { values[$0] != nil } }
}
