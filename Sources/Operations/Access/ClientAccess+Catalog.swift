package import ChangeFeed
internal import Crypto
package import MergeCore
package import MergeService

extension ClientAccess {
    /// Determines a client's rights on the resources of a catalog.
    package convenience init(_ viewer: Viewer, to catalog: Catalog) {
        let text = catalog.resources.compactMap { viewer.view(of: $0) }.map { view in
            view.canonical { String(describing: $0) }
        }.joined(separator: "\n")
        self.init(viewer: viewer, digest: Array(SHA256.hash(data: Array(text.utf8)).prefix(16)))
    }
}

extension FeedState {
    /// Returns the state with the feed's id for a client; each view of the records has another id.
    ///
    /// - Parameter access: nil for a client that may see everything.
    package func named(for access: ClientAccess?) -> FeedState {
        guard let access else { return self }
        return FeedState(
            feed: feed + String(Self.mark) + Hex.encode(access.digest), revision: revision, earliest: earliest)
    }
}
