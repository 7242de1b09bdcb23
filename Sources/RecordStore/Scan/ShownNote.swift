import MergeCore

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
    }

    /// The part of a note that says what was sent.
    package struct Content: Sendable, Hashable {
        /// The records.
        package var entries: [Entry]
        /// The stretch of records that they are all of; nil where they are some of many.
        package var span: ShownSpan?

        /// Notes records.
        package init(entries: [Entry], span: ShownSpan? = nil) {
            self.entries = entries
            self.span = span
        }

        /// A stretch stands as an entry whose name no record has: a gateway that does not know stretches finds no rows
        /// of it, as it was sent.
        private static let spanMark = "\n"

        /// The form in which a row of the journal keeps it.
        package var bytes: [UInt8] {
            var out: [UInt8] = []
            out.reserveCapacity(entries.reduce(128) { $0 + $1.record.utf8.count + 18 })
            for entry in entries { Self.append(entry, to: &out) }
            if let span {
                let name = Self.spanMark + String(decoding: Base64.encode(span.bytes), as: UTF8.self)
                Self.append(Entry(record: name, link: 0, digest: 0), to: &out)
            }
            return out
        }

        private static func append(_ entry: Entry, to out: inout [UInt8]) {
            PackedNumber.append(entry.record.utf8, to: &out)
            entry.link.appendPacked(to: &out)
            entry.digest.appendPacked(to: &out)
        }

        /// Reads what `bytes` wrote; nil where it is damaged.
        package init?(bytes: [UInt8]) {
            var reader = PackedReader(bytes)
            self.init(entries: [])
            while !reader.isAtEnd {
                guard let name = reader.bytes(), let record = String(validating: name, as: UTF8.self),
                    let link = reader.word(), let digest = reader.word()
                else { return nil }
                guard record.hasPrefix(Self.spanMark) else {
                    entries.append(Entry(record: record, link: link, digest: digest))
                    continue
                }
                guard let packed = Base64.decode(String(record.dropFirst())), let span = ShownSpan(bytes: packed)
                else { return nil }
                self.span = span
            }
        }
    }

    /// The name of the resource.
    package let resource: String
    /// The name of the section.
    package let section: String
    /// The revision that the client has with it.
    package let revision: Int
    /// The records.
    package let content: Content

    /// Notes what was sent.
    package init(resource: String, section: String, revision: Int, content: Content) {
        self.resource = resource
        self.section = section
        self.revision = revision
        self.content = content
    }
}
