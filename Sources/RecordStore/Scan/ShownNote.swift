import MergeCore

/// A delivery record: one section of some records as a client received it.
package struct ShownNote: Sendable, Hashable {
    /// The rows of one record in the section.
    package struct Entry: Sendable, Hashable {
        /// The record's key as URLs spell it.
        package let record: String
        /// The hash of the columns that tie rows to the record.
        package let link: UInt64
        /// The sum of the row digests.
        package let digest: UInt64
        /// The values of the condition columns when the record was sent; nil if no condition applies.
        package let conditions: [UInt8]?

        /// Describes a record's rows.
        package init(record: String, link: UInt64, digest: UInt64, conditions: [UInt8]? = nil) {
            self.record = record
            self.link = link
            self.digest = digest
            self.conditions = conditions
        }
    }

    /// The records that were sent.
    package struct Content: Sendable, Hashable {
        /// The records.
        package var entries: [Entry]
        /// The delivered range that contains exactly these records; nil if records between them were left out.
        package var span: ShownSpan?

        /// Describes records.
        package init(entries: [Entry], span: ShownSpan? = nil) {
            self.entries = entries
            self.span = span
        }

        /// The prefix of an entry that contains a delivered range.
        ///
        /// No record has such a name. An older gateway finds no rows under it, which agrees with its digest 0.
        private static let spanMark = "\n"
        /// The prefix of an entry that contains the condition values of the following entries, which are mostly equal.
        private static let conditionsMark = "\t"

        /// The form in which the journal stores it.
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

        /// Decodes `bytes`; nil if they are damaged.
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
    /// The revision of the data that the client received.
    package let revision: Int
    /// The records.
    package let content: Content

    /// Describes sent records.
    package init(resource: String, section: String, revision: Int, content: Content) {
        self.resource = resource
        self.section = section
        self.revision = revision
        self.content = content
    }
}
