/// A table or a view.
package enum TableForm: Sendable, Hashable {
    case table
    /// A view; its rows may be read-only.
    case view(isUpdatable: Bool)
}
