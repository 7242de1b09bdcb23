package import ChangeFeed
internal import Crypto
package import MergeCore
package import MergeService
package import MergeWire

extension ClientAccess {
    /// Determines a client's rights on the resources of a catalog.
    package convenience init(_ viewer: Viewer, to catalog: Catalog) {
        let text = catalog.resources.compactMap { viewer.view(of: $0) }.map { view in
            view.canonical { String(describing: $0) }
        }.joined(separator: "\n")
        self.init(viewer: viewer, digest: Array(SHA256.hash(data: Array(text.utf8)).prefix(16)))
    }
}

extension ClientAccess {
    /// Returns a client's rights, limited to the records of its filter.
    ///
    /// - Parameter access: nil without access rules.
    package static func filtered(_ access: ClientAccess?, by filter: ReadFilter?) -> ClientAccess? {
        guard let filter else { return access }
        return ClientAccess(
            viewer: (access?.viewer ?? .anonymous).with([filter.filter]), digest: access?.digest ?? [],
            filter: filter.text)
    }
}

extension FeedState {
    /// Returns the state with the feed's id for a client; each view of the records has another id.
    ///
    /// - Parameter access: nil for a client that may see everything.
    package func named(for access: ClientAccess?) -> FeedState {
        let name = FeedName(own: FeedState.ownName(feed), for: access)
        return FeedState(feed: name.text, revision: revision, earliest: earliest)
    }
}
