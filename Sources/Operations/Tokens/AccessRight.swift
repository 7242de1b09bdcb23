/// A right of the bearer of a token.
package enum AccessRight: String, Sendable, CaseIterable {
    case read
    case write
    /// Looks at the journal, takes entries back and sends them again.
    case operate = "operator"
    /// Asks for access tokens, and opens nothing else.
    case refresh
}
