/// The values that columns which conditions of access name have in a row, as bytes that only access understands.
///
/// A mark keeps them, so that a change made by another program is filed with what they were before and what they are
/// now. Empty where no condition names a column of the row.
package struct ConditionTag: Sendable, Hashable {
    /// The bytes; nothing here looks into them.
    package let bytes: [UInt8]

    /// Takes the bytes.
    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// That of a row that no condition looks at.
    package static let none = ConditionTag([])
}

/// The tags that the rows behind some changes had and have, by the change, as `pending.conditions` keeps them.
package struct ConditionTags: Sendable, Hashable {
    /// For each change of a run, in its order, the tags of its rows: former and new ones.
    package var tags: [[ConditionTag]]

    /// Takes the tags of each change.
    package init(tags: [[ConditionTag]]) {
        self.tags = tags
    }

    /// The form in which a row keeps them; nil where there are none at all.
    package var bytes: [UInt8]? {
        if tags.allSatisfy(\.isEmpty) { return nil }
        var out: [UInt8] = []
        for change in tags {
            PackedNumber.append(UInt64(change.count), to: &out)
            for tag in change { PackedNumber.append(tag.bytes, to: &out) }
        }
        return out
    }

    /// Reads what `bytes` wrote; nil where it is damaged.
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
