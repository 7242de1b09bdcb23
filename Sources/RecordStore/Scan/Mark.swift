/// A row digest: the state of a row as the feed last reported it.
///
/// A scan compares the current row with it.
package struct Mark: Sendable, Hashable {
    /// The row's key, packed.
    package let key: [UInt8]
    /// The hash of the row's columns.
    package let digest: UInt64
    /// The packed columns that tie the row to its record; empty for a root row.
    package let link: [UInt8]
    /// The values of the row's condition columns.
    package let tag: ConditionTag

    /// Describes the state of a row.
    package init(key: [UInt8], digest: UInt64, link: [UInt8], tag: ConditionTag = .none) {
        self.key = key
        self.digest = digest
        self.link = link
        self.tag = tag
    }

    /// Encodes row digests one after the other.
    package static func bytes(_ marks: [Mark]) -> [UInt8] {
        var out: [UInt8] = []
        out.reserveCapacity(marks.count * 20)
        for mark in marks {
            // The lowest bit is 1 if a tag follows. Most rows have none.
            PackedNumber.append(UInt64(mark.key.count) << 1 | (mark.tag.bytes.isEmpty ? 0 : 1), to: &out)
            out += mark.key
            out += mark.digest.packedBytes
            PackedNumber.append(mark.link, to: &out)
            if !mark.tag.bytes.isEmpty { PackedNumber.append(mark.tag.bytes, to: &out) }
        }
        return out
    }

    /// Decodes `bytes`; nil if they are damaged.
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

/// A range of a section's rows in key order, with their row digests.
///
/// Ranges form a chain, because only the database can compare its keys.
package struct MarkRange: Sendable, Hashable {
    /// The number of the range in its section, from 1.
    package let id: Int
    /// The following range; nil for the last one.
    package let next: Int?
    /// The packed key of the last possible row; nil if the range has no end.
    package let high: [UInt8]?
    /// The number of rows in the range.
    package let count: Int
    /// The sum of the row digests.
    package let digest: UInt64

    /// Describes a range.
    package init(id: Int, next: Int?, high: [UInt8]?, count: Int, digest: UInt64) {
        self.id = id
        self.next = next
        self.high = high
        self.count = count
        self.digest = digest
    }

    /// Describes a range by its row digests.
    package init(id: Int, next: Int?, high: [UInt8]?, marks: [Mark]) {
        self.init(
            id: id, next: next, high: high, count: marks.count, digest: marks.reduce(0) { $0 &+ $1.digest })
    }
}
