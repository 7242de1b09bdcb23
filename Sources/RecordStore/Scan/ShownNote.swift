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
        /// What conditions of access look at in the record as it was sent; nil where they look at nothing.
        package let conditions: [UInt8]?

        /// Notes a record's rows.
        package init(record: String, link: UInt64, digest: UInt64, conditions: [UInt8]? = nil) {
            self.record = record
            self.link = link
            self.digest = digest
            self.conditions = conditions
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
        /// So does what conditions look at in the entries behind it, which mostly are many that look the same to them.
        private static let conditionsMark = "\t"

        /// The form in which a row of the journal keeps it.
        package var bytes: [UInt8] {
            var out: [UInt8] = []
            out.reserveCapacity(entries.reduce(128) { $0 + $1.record.utf8.count + 18 })
            var conditions: [UInt8]?
            for entry in entries {
                if entry.conditions != conditions {
                    conditions = entry.conditions
                    Self.append(Self.conditionsMark, conditions ?? [], to: &out)
                }
                Self.append(entry, to: &out)
            }
            if let span { Self.append(Self.spanMark, span.bytes, to: &out) }
            return out
        }

        private static func append(_ mark: String, _ bytes: [UInt8], to out: inout [UInt8]) {
            let name = mark + String(decoding: Base64.encode(bytes), as: UTF8.self)
            append(Entry(record: name, link: 0, digest: 0), to: &out)
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
            var conditions: [UInt8]?
            while !reader.isAtEnd {
                guard let name = reader.bytes(), let record = String(validating: name, as: UTF8.self),
                    let link = reader.word(), let digest = reader.word()
                else { return nil }
                let isSpan = record.hasPrefix(Self.spanMark)
                guard isSpan || record.hasPrefix(Self.conditionsMark) else {
                    entries.append(Entry(record: record, link: link, digest: digest, conditions: conditions))
                    continue
                }
                guard let packed = Base64.decode(String(record.dropFirst())) else { return nil }
                if isSpan {
                    guard let span = ShownSpan(bytes: packed) else { return nil }
                    self.span = span
                } else {
                    conditions = packed.isEmpty ? nil : packed
                }
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
