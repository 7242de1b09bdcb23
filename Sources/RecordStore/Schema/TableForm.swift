/// The form of what stands under a table's name.
package enum TableForm: Sendable, Hashable {
    case table
    /// A view, whose rows can be written or not.
    case view(isUpdatable: Bool)
}
