/// One section of some records as they were sent to a client.
package struct ShownNote: Sendable, Hashable {
    /// A record's rows of the section.
    package struct Entry: Sendable, Hashable {
        /// The record's key as URLs spell it.
        package let record: String
        /// The hash of what ties rows to the record.
        package let link: UInt64
        /// The sum of the digests of its rows.
        package let digest: UInt64

        /// Notes a record's rows.
        package init(record: String, link: UInt64, digest: UInt64) {
            self.record = record
            self.link = link
            self.digest = digest
        }

        static func bytes(_ entries: [Entry]) -> [UInt8] {
            var out: [UInt8] = []
            for entry in entries {
                PackedNumber.append(entry.record.utf8, to: &out)
                out += entry.link.packedBytes
                out += entry.digest.packedBytes
            }
            return out
        }

        /// Reads the entries of a note; nil where they are damaged.
        package static func entries(_ bytes: [UInt8]) -> [Entry]? {
            var reader = PackedReader(bytes)
            var entries: [Entry] = []
            while !reader.isAtEnd {
                guard let name = reader.bytes(), let record = String(validating: name, as: UTF8.self),
                    let link = reader.word(), let digest = reader.word()
                else { return nil }
                entries.append(Entry(record: record, link: link, digest: digest))
            }
            return entries
        }
    }

    /// The name of the resource.
    package let resource: String
    /// The name of the section.
    package let section: String
    /// The revision that the client has with it.
    package let revision: Int
    /// The records.
    package let entries: [Entry]

    /// Notes what was sent.
    package init(resource: String, section: String, revision: Int, entries: [Entry]) {
        self.resource = resource
        self.section = section
        self.revision = revision
        self.entries = entries
    }
}
