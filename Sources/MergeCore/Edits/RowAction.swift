/// The change that the client wants to one row.
package enum RowAction: Sendable, Hashable {
    /// Any subset of the fields.
    case create(FieldValues)
    case edit([GroupEdit])
    case delete([GroupBase])
}
