package import MergeCore

/// A delivered range: a key range that a snapshot sent completely.
///
/// A record in the range that was not sent did not exist, or the client could not see it.
package struct ShownSpan: Sendable, Hashable {
    /// The number of the snapshot.
    package let snapshot: UInt64
    /// The packed key after which the range begins; nil before the first record.
    package let low: [UInt8]?
    /// The packed key with which the range ends; nil after the last record.
    package let high: [UInt8]?
    /// The client, if it sees only some records; nil if it sees all.
    package let viewer: Viewer?

    /// Describes a range.
    package init(snapshot: UInt64, low: [UInt8]?, high: [UInt8]?, viewer: Viewer?) {
        self.snapshot = snapshot
        self.low = low
        self.high = high
        self.viewer = viewer
    }

    var bytes: [UInt8] {
        var out = snapshot.packedBytes
        for key in [low, high] {
            out.append(key == nil ? 0 : 1)
            if let key { PackedNumber.append(key, to: &out) }
        }
        // A client that cannot be encoded counts as a client that sees all records. Then the feed reports too much
        // rather than too little.
        if let packed = viewer.flatMap({ PackedViewer.bytes($0) }) { out += packed }
        return out
    }

    /// Decodes `bytes`; nil if they are damaged.
    init?(bytes: [UInt8]) {
        var reader = PackedReader(bytes)
        guard let snapshot = reader.word() else { return nil }
        var keys: [[UInt8]?] = []
        for _ in 0..<2 {
            guard let mark = reader.byte() else { return nil }
            if mark == 0 {
                keys.append(nil)
            } else {
                guard let key = reader.bytes() else { return nil }
                keys.append(Array(key))
            }
        }
        var viewer: Viewer?
        if !reader.isAtEnd {
            guard let known = PackedViewer.viewer(&reader) else { return nil }
            viewer = known
        }
        self.init(snapshot: snapshot, low: keys[0], high: keys[1], viewer: viewer)
    }
}
