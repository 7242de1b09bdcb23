package import MergeCore
package import MergeService

/// A record that will be sent, with the digests of its rows.
package struct ShownRecord: Sendable, Hashable {
    /// The resource of the record.
    package let resource: Resource
    /// The key in its URL form.
    package let record: String
    /// The row digests of each section; nil if a section has no usable digests.
    let sections: [RecordDigests.Sections.Rows?]
    /// The values that access conditions read; nil without conditions.
    let conditions: [UInt8]?

    /// - Parameter digests: the digests of the record's rows by section.
    package init(_ record: String, of resource: Resource, digests: RecordDigests.Sections) {
        self.resource = resource
        self.record = record
        sections = digests.sections
        conditions = digests.conditions
    }

    /// The record with digests that never match, so that the scan reports it.
    package var asNobodyFindsIt: ShownRecord {
        var digests = RecordDigests.Sections(sections: sections, conditions: conditions)
        for index in sections.indices { digests.sections[index]?.digest &+= 1 }
        return ShownRecord(record, of: resource, digests: digests)
    }
}
