/// Names a row to a client.
package struct RowPlace: Sendable, Hashable {
    /// The resource whose record it belongs to.
    package let resource: Resource
    /// The key of that record.
    package let record: RecordKey
    /// The position of the section among those of the resource; nil where the row is the root.
    package let section: Int?
    /// The key of the row in a list; nil where the section holds one row.
    package let item: RecordKey?

    /// Names a row: a root, or one of a section of its record.
    package init(resource: Resource, record: RecordKey, section: Int? = nil, item: RecordKey? = nil) {
        self.resource = resource
        self.record = record
        self.section = section
        self.item = item
    }
}
