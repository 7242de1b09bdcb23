/// Values of some fields of a section, in the order in which they were sent.
package struct FieldValues: Sendable, Hashable {
    /// Positions in the section's `fields`.
    package var fields: [Int]
    /// Parallel to `fields`; null where a temporary id stands that is not settled yet.
    package var values: [Value]
    /// Places in `values` that wait for the real key of a row that this push creates.
    package var pending: [PendingReference]

    /// Pairs fields with values, of which there are as many.
    package init(fields: [Int], values: [Value], pending: [PendingReference] = []) {
        self.fields = fields
        self.values = values
        self.pending = pending
    }

    /// No fields at all.
    package static let none = FieldValues(fields: [], values: [])

    /// The same values with temporary ids replaced by the keys in `ids`, each as the column of its field stores it.
    ///
    /// Unknown ids stay pending.
    ///
    /// - Parameter section: the section of the fields.
    package func resolved(in section: Section, _ ids: (TemporaryID) -> Value?) -> FieldValues {
        guard !pending.isEmpty else { return self }
        var out = self
        out.pending = []
        for reference in pending {
            if let value = ids(reference.id) {
                let field = section.fields[fields[reference.position]]
                out.values[reference.position] = section.columns[field.column].converted(value)
            } else {
                out.pending.append(reference)
            }
        }
        return out
    }
}
