/// A row of a record, as entries of the journal name it.
package struct EntryRow: Sendable, Hashable {
    /// The position of its section in the resource.
    package let section: Int
    /// Its key in a list; nil for the record's own row and those of singletons.
    package let key: RecordKey?

    /// Names a row.
    package init(section: Int, key: RecordKey?) {
        self.section = section
        self.key = key
    }
}
