/// A right of the bearer of a token.
package enum AccessRight: String, Sendable, CaseIterable {
    case read
    case write
}
