import MergeCore

/// The position in a snapshot, which a client sends back to continue it.
package struct SnapshotCursor: Sendable, Hashable {
    /// The feed that continues the snapshot.
    package let feed: String
    /// The revision from which the feed continues.
    package let revision: Int
    /// The resources of the snapshot, in their order.
    package let resources: [String]
    /// The position of the current resource.
    package let position: Int
    /// The key of its last sent record, as URLs spell it; nil before its first.
    package let key: String?

    /// Describes a position in a snapshot.
    package init(feed: String, revision: Int, resources: [String], position: Int, key: String?) {
        self.feed = feed
        self.revision = revision
        self.resources = resources
        self.position = position
        self.key = key
    }

    /// The cursor for clients: letters, digits, `-` and `_`.
    package var text: String {
        let plain = [
            feed, String(revision), resources.joined(separator: ","), String(position), key.map { "=" + $0 } ?? "",
        ]
        .joined(separator: "\n")
        let bytes = Base64.encode(Array(plain.utf8)).compactMap { byte -> UInt8? in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): nil
            default: byte
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes `text`; nil if it is invalid.
    package init?(text: String) {
        guard text.utf8.count <= 65_536 else { return nil }
        var plain = text.utf8.map { byte in
            byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? UInt8(ascii: "/") : byte
        }
        plain += repeatElement(UInt8(ascii: "="), count: (4 - plain.count % 4) % 4)
        guard let bytes = Base64.decode(String(decoding: plain, as: UTF8.self)),
            let whole = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let parts = whole.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, let revision = Int(parts[1]), revision >= 0, let position = Int(parts[3]) else {
            return nil
        }
        let resources = parts[2].split(separator: ",").map(String.init)
        guard resources.indices.contains(position) else { return nil }
        let key = parts[4].hasPrefix("=") ? String(parts[4].dropFirst()) : nil
        guard key != nil || parts[4].isEmpty else { return nil }
        self.init(feed: parts[0], revision: revision, resources: resources, position: position, key: key)
    }
}
