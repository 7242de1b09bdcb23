/// A temporary id and the key that its row got.
package struct IDMapping: Sendable, Hashable {
    /// The id that the client made up.
    package let temporary: TemporaryID
    /// The key that the row has from now on.
    package let key: RecordKey
    /// The section whose key it is.
    package let section: Int

    /// Maps a temporary id to a key.
    package init(temporary: TemporaryID, key: RecordKey, section: Int) {
        self.temporary = temporary
        self.key = key
        self.section = section
    }
}
