package import MergeCore
package import MergeService

/// A record as it is about to be sent, with the digests of its rows.
package struct ShownRecord: Sendable, Hashable {
    /// The resource of the record.
    package let resource: Resource
    /// The key of the record as URLs spell it.
    package let record: String
    /// Its sections' rows; nil for a section of which nothing can be said.
    let sections: [RecordDigests.Sections.Rows?]
    /// What conditions of access look at in it; nil where they look at nothing.
    let conditions: [UInt8]?

    /// - Parameter digests: the digests of the rows of the record, section by section.
    package init(_ resource: Resource, _ record: String, _ digests: RecordDigests.Sections) {
        self.resource = resource
        self.record = record
        sections = digests.sections
        conditions = digests.conditions
    }

    /// The same record with digests that no rows come to, so that it is told once more.
    package var asNobodyFindsIt: ShownRecord {
        var digests = RecordDigests.Sections(sections: sections, conditions: conditions)
        for index in sections.indices { digests.sections[index]?.digest &+= 1 }
        return ShownRecord(resource, record, digests)
    }
}
