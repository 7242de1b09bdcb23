package import MergeCore
package import MergeService
package import RecordStore

/// A record as it is about to be sent, with the digests of its rows.
package struct ShownRecord: Sendable, Hashable {
    /// The resource of the record.
    package let resource: Resource
    /// The key of the record as URLs spell it.
    package let record: String
    /// Its sections' rows; nil for a section of which nothing can be said.
    let sections: [Rows?]

    /// The rows of one section.
    struct Rows: Sendable, Hashable {
        let link: UInt64
        let digest: UInt64
    }

    private init(_ resource: Resource, _ record: String, sections: [Rows?]) {
        self.resource = resource
        self.record = record
        self.sections = sections
    }

    /// The same record with digests that no rows come to, so that it is told once more.
    package var asNobodyFindsIt: ShownRecord {
        ShownRecord(
            resource, record,
            sections: sections.map { rows in rows.map { Rows(link: $0.link, digest: $0.digest &+ 1) } })
    }

    /// - Parameters:
    ///   - digests: the digests of the rows of the record, section by section.
    ///   - key: under which ties are hashed.
    package init(_ resource: Resource, _ record: String, _ digests: RecordDigests.Sections, _ key: SipHash.Key) {
        self.resource = resource
        self.record = record
        sections = digests.sections.enumerated().map { position, rows in
            guard let rows, ScanUnit.isScanned(resource, resource.sections[position]) else { return nil }
            return Rows(link: ScanUnit.hash(link: rows.link, key), digest: rows.digest)
        }
    }
}
