/// The name of a record among all resources.
package struct RecordName: Sendable, Hashable {
    /// The name of the resource.
    package let resource: String
    /// The record's key as URLs spell it.
    package let record: String

    /// Names a record.
    package init(resource: String, record: String) {
        self.resource = resource
        self.record = record
    }
}
