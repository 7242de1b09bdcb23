/// A temporary id and the real key of its row.
package struct IDMapping: Sendable, Hashable {
    /// The id that the client chose.
    package let temporary: TemporaryID
    /// The key of the new row.
    package let key: RecordKey
    /// The position of the row's section.
    package let section: Int

    /// Maps a temporary id to a key.
    package init(temporary: TemporaryID, key: RecordKey, section: Int) {
        self.temporary = temporary
        self.key = key
        self.section = section
    }
}
