/// A temporary id that stands in place of a value.
package struct PendingReference: Sendable, Hashable {
    /// The position of the value in `FieldValues.values`.
    package let position: Int
    /// The temporary id of the row whose key belongs there.
    package let id: TemporaryID

    /// Puts a temporary id in the place of a value.
    package init(position: Int, id: TemporaryID) {
        self.position = position
        self.id = id
    }
}
