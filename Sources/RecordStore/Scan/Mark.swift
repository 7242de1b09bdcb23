/// The state of a row as the feed has told it: what a scan compares the row with.
package struct Mark: Sendable, Hashable {
    /// The row's key, packed.
    package let key: [UInt8]
    /// The digest of the row.
    package let digest: UInt64
    /// What ties the row to its record, packed; empty for the root row, whose key is the record's.
    package let link: [UInt8]
    /// The values that conditions of access look at.
    package let tag: ConditionTag

    /// Notes the state of a row.
    package init(key: [UInt8], digest: UInt64, link: [UInt8], tag: ConditionTag = .none) {
        self.key = key
        self.digest = digest
        self.link = link
        self.tag = tag
    }

    /// Writes marks down, one behind the other.
    package static func bytes(_ marks: [Mark]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(marks.count * 20)
        for mark in marks {
            // Most rows have no tag, and then none is written.
            PackedNumber.append(UInt64(mark.key.count) << 1 | (mark.tag.bytes.isEmpty ? 0 : 1), to: &out)
            out += mark.key
            out += mark.digest.packedBytes
            PackedNumber.append(mark.link, to: &out)
            if !mark.tag.bytes.isEmpty { PackedNumber.append(mark.tag.bytes, to: &out) }
        }
        return out
    }

    /// Reads what `bytes` wrote; nil where it is damaged.
    package static func marks(_ bytes: [UInt8]) -> [Mark]? {
        var reader = PackedReader(bytes)
        var marks: [Mark] = []
        while !reader.isAtEnd {
            guard let head = reader.number(), let count = Int(exactly: head >> 1),
                let key = reader.bytes(count), let digest = reader.word(), let link = reader.bytes()
            else { return nil }
            var tag = ConditionTag.none
            if head & 1 == 1 {
                guard let bytes = reader.bytes() else { return nil }
                tag = ConditionTag(Array(bytes))
            }
            marks.append(Mark(key: Array(key), digest: digest, link: Array(link), tag: tag))
        }
        return marks
    }
}

/// A range of a section's rows in the order of its keys, with the marks of the rows in it.
///
/// Ranges follow one another as a chain, because only the database can tell the order of its keys.
package struct MarkRange: Sendable, Hashable {
    /// Names the range in its section; the first of a section is 1.
    package let id: Int
    /// The range that follows; nil for the last.
    package let next: Int?
    /// The key of the last row that can be in it, packed; nil where it has no end.
    package let high: [UInt8]?
    /// Rows in it.
    package let count: Int
    /// The sum of their digests.
    package let digest: UInt64

    /// Describes a range.
    package init(id: Int, next: Int?, high: [UInt8]?, count: Int, digest: UInt64) {
        self.id = id
        self.next = next
        self.high = high
        self.count = count
        self.digest = digest
    }

    /// Describes a range by its marks.
    package init(id: Int, next: Int?, high: [UInt8]?, marks: [Mark]) {
        self.init(
            id: id, next: next, high: high, count: marks.count, digest: marks.reduce(0) { $0 &+ $1.digest })
    }
}
