import ChangeFeed
import MergeCore
package import MergeService

/// The id of a feed for one client: the feed's own name, the client's rights, and its filter.
///
/// The id contains the filter itself. So any gateway can find the filter of a former feed, and none stores filters.
package struct FeedName: Sendable, Hashable {
    private let own: String
    /// The digest of the rights; empty without access rules.
    private let rights: [UInt8]
    /// The canonical text of the filter; nil without one.
    package let filter: String?

    /// - Parameter access: nil for a client that may see everything and has no filter.
    package init(own: String, for access: ClientAccess?) {
        self.own = own
        rights = access?.digest ?? []
        filter = access?.filter
    }

    /// The id.
    package var text: String {
        var parts = [own]
        if !rights.isEmpty || filter != nil { parts.append(Hex.encode(rights)) }
        if let filter { parts.append(Base64URL.encode(filter.utf8)) }
        return parts.joined(separator: String(FeedState.mark))
    }

    /// Decodes `text`; nil if it is invalid.
    package init?(text: String) {
        let parts = text.split(separator: FeedState.mark, omittingEmptySubsequences: false).map(String.init)
        guard parts.count <= 3, let own = parts.first else { return nil }
        self.own = own
        if parts.count > 1 {
            guard let rights = Hex.decode(parts[1]) else { return nil }
            self.rights = rights
        } else {
            rights = []
        }
        if parts.count > 2 {
            guard let bytes = Base64URL.decode(parts[2].utf8), let filter = String(validating: bytes, as: UTF8.self)
            else { return nil }
            self.filter = filter
        } else {
            filter = nil
        }
    }

    /// Returns true if the ids are of the same feed and the same rights, whatever the filters.
    package func hasSameRights(as other: FeedName) -> Bool { own == other.own && rights == other.rights }
}
