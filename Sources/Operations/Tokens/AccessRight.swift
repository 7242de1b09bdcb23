/// A right of a token.
package enum AccessRight: String, Sendable, CaseIterable {
    case read
    case write
    /// Reads the journal, undoes entries and resends pushes.
    case operate = "operator"
    /// Requests access tokens; it permits nothing else.
    case refresh
}
