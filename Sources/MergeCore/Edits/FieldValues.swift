/// Values of some fields of a section, in the order of the request.
package struct FieldValues: Sendable, Hashable {
    /// Positions in the section's `fields`.
    package var fields: [Int]
    /// The values, parallel to `fields`; a pending reference is null.
    package var values: [Value]
    /// The values that need the key of a row that this push creates.
    package var pending: [PendingReference]

    /// Pairs fields with the same number of values.
    package init(fields: [Int], values: [Value], pending: [PendingReference] = []) {
        self.fields = fields
        self.values = values
        self.pending = pending
    }

    /// No fields.
    package static let none = FieldValues(fields: [], values: [])

    /// Returns the values with known temporary ids replaced by keys, each in the type of its column.
    package func resolved(in section: Section, _ ids: (TemporaryID) -> Value?) -> FieldValues {
        guard !pending.isEmpty else { return self }
        var out = self
        out.pending = []
        for reference in pending {
            if let value = ids(reference.id) {
                let field = section.fields[fields[reference.position]]
                out.values[reference.position] = section.columns[field.column].converted(key: value)
            } else {
                out.pending.append(reference)
            }
        }
        return out
    }
}
