package import MergeCore

/// A stretch of records in the order of their keys that was sent whole: a record that lies in it and was not sent was not
/// there, or not there for the client.
package struct ShownSpan: Sendable, Hashable {
    /// Tells the stretches of one snapshot from those of others.
    package let snapshot: UInt64
    /// The key behind which it begins, packed; nil before the first record.
    package let low: [UInt8]?
    /// The key with which it ends; nil behind the last record.
    package let high: [UInt8]?
    /// The client, where it sees some of the records alone; nil for one who sees all.
    package let viewer: Viewer?

    /// Describes a stretch.
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
        // A client that cannot be written down counts as one who sees all: that tells too much rather than too little.
        if let packed = viewer.flatMap({ PackedViewer.bytes($0) }) { out += packed }
        return out
    }

    /// Reads what `bytes` wrote; nil where it is damaged.
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
