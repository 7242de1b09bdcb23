/// A temporary id and the key that its row got.
package struct IDMapping: Sendable, Hashable {
    package let temporary: TemporaryID
    package let key: RecordKey
    /// The section whose key it is.
    package let section: Int

    package init(temporary: TemporaryID, key: RecordKey, section: Int) {
        self.temporary = temporary
        self.key = key
        self.section = section
    }
}
