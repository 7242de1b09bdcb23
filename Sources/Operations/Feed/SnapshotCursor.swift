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
    /// The former feed whose records the snapshot omits; nil for none.
    package let unless: String?

    /// Describes a position in a snapshot.
    package init(
        feed: String, revision: Int, resources: [String], position: Int, key: String?, unless: String? = nil
    ) {
        self.unless = unless
        self.feed = feed
        self.revision = revision
        self.resources = resources
        self.position = position
        self.key = key
    }

    /// The cursor for clients: letters, digits, `-` and `_`.
    package var text: String {
        var parts = [
            feed, String(revision), resources.joined(separator: ","), String(position), key.map { "=" + $0 } ?? "",
        ]
        if let unless { parts.append(unless) }
        return Base64URL.encode(parts.joined(separator: "\n").utf8)
    }

    /// Decodes `text`; nil if it is invalid.
    package init?(text: String) {
        guard text.utf8.count <= 65_536, let bytes = Base64URL.decode(text.utf8),
            let whole = String(validating: bytes, as: UTF8.self)
        else { return nil }
        let parts = whole.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard (5...6).contains(parts.count), let revision = Int(parts[1]), revision >= 0, let position = Int(parts[3])
        else {
            return nil
        }
        let resources = parts[2].split(separator: ",").map(String.init)
        guard resources.indices.contains(position) else { return nil }
        let key = parts[4].hasPrefix("=") ? String(parts[4].dropFirst()) : nil
        guard key != nil || parts[4].isEmpty else { return nil }
        self.init(
            feed: parts[0], revision: revision, resources: resources, position: position, key: key,
            unless: parts.count > 5 ? parts[5] : nil)
    }
}
