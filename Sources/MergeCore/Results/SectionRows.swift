/// The rows of one section of a record, each parallel to the section's `columns`.
package enum SectionRows: Sendable, Hashable {
    /// The root or a singleton, which may have no row.
    case one([Value]?)
    case many([[Value]])
}
