/// A row as a client can identify it.
package struct RowPlace: Sendable, Hashable {
    /// The resource of the row's record.
    package let resource: Resource
    /// The key of the record.
    package let record: RecordKey
    /// The position of the row's section, or nil for the root.
    package let section: Int?
    /// The key of the row in a list, or nil in a singleton.
    package let item: RecordKey?

    /// Creates a reference to a root row, or to a row of another section.
    package init(resource: Resource, record: RecordKey, section: Int? = nil, item: RecordKey? = nil) {
        self.resource = resource
        self.record = record
        self.section = section
        self.item = item
    }
}
