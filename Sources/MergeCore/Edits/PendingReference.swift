/// A temporary id in the position of a value.
package struct PendingReference: Sendable, Hashable {
    /// The position of the value in `FieldValues.values`.
    package let position: Int
    /// The temporary id of the row whose key is the value.
    package let id: TemporaryID

    /// Creates a pending reference.
    package init(position: Int, id: TemporaryID) {
        self.position = position
        self.id = id
    }
}
