/// A temporary id that stands in place of a value.
package struct PendingReference: Sendable, Hashable {
    package let position: Int
    package let id: TemporaryID

    package init(position: Int, id: TemporaryID) {
        self.position = position
        self.id = id
    }
}
