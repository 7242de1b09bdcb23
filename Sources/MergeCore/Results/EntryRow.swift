/// A row of a record, as a journal entry identifies it.
package struct EntryRow: Sendable, Hashable {
    /// The position of the row's section in the resource.
    package let section: Int
    /// The row's key in a list, or nil in the root and in singletons.
    package let key: RecordKey?

    /// Creates a reference to a row.
    package init(section: Int, key: RecordKey?) {
        self.section = section
        self.key = key
    }
}
