/// The condition columns of one row, encoded as bytes that only the access code decodes.
///
/// A row digest contains them, so that the feed can store their former and new values with a foreign change.
package struct ConditionTag: Sendable, Hashable {
    /// The encoded values.
    package let bytes: [UInt8]

    /// Wraps the bytes.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The tag of a row without condition columns.
    package static let none = ConditionTag([])
}

/// The former and current tags of the rows of several changes, as in `pending.conditions`.
package struct ConditionTags: Sendable, Hashable {
    /// The tags of each change's rows, former and current, in the order of the changes.
    package var tags: [[ConditionTag]]

    /// Wraps the tags of each change.
    package init(tags: [[ConditionTag]]) {
        self.tags = tags
    }

    /// The stored form; nil if there are no tags.
    package var bytes: [UInt8]? {
        if tags.allSatisfy(\.isEmpty) { return nil }
        var out: [UInt8] = []
        for change in tags {
            PackedNumber.append(UInt64(change.count), to: &out)
            for tag in change { PackedNumber.append(tag.bytes, to: &out) }
        }
        return out
    }

    /// Decodes `bytes`; nil if they are damaged.
    package init?(bytes: [UInt8]) {
        var reader = PackedReader(bytes)
        var tags: [[ConditionTag]] = []
        while !reader.isAtEnd {
            guard let count = reader.count(), count <= bytes.count else { return nil }
            var change: [ConditionTag] = []
            for _ in 0..<count {
                guard let tag = reader.bytes() else { return nil }
                change.append(ConditionTag(Array(tag)))
            }
            tags.append(change)
        }
        self.tags = tags
    }
}
