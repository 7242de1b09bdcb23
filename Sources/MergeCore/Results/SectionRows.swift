/// The rows of one section of a record, each parallel to the section's `columns`.
package enum SectionRows: Sendable, Hashable {
    /// The root, or a singleton, which may be without a row.
    case one([Value]?)
    case many([[Value]])
}
