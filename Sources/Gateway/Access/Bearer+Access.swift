internal import Crypto
import MergeCore
import MergeService
import Synchronization

extension Bearer {
    /// Returns the bearer's rights where rules of access hold.
    ///
    /// - Parameter catalog: the resources that are served, some with rules of access.
    func access(to catalog: Catalog) -> ClientAccess {
        memo.withLock { memo in
            // A rule or a column that changes makes another version.
            if let memo, memo.version == catalog.version { return memo.access }
            let access = ClientAccess(Viewer(who: name, roles: roles, claims: claims), to: catalog)
            memo = (catalog.version, access)
            return access
        }
    }
}

extension ClientAccess {
    /// Makes the rights of a client to the resources of a catalog.
    convenience init(_ viewer: Viewer, to catalog: Catalog) {
        let text = catalog.resources.compactMap { viewer.view(of: $0) }.map { view in
            view.canonical { String(describing: $0) }
        }.joined(separator: "\n")
        self.init(viewer: viewer, digest: Array(SHA256.hash(data: Array(text.utf8)).prefix(16)))
    }
}

extension GatewayContext {
    /// Returns the client's rights; nil where no resource has rules of access.
    func access(to catalog: Catalog) -> ClientAccess? {
        guard catalog.hasAccessRules else { return nil }
        // Without tokens such rules are not served; should they be, nobody has a role.
        return bearer?.access(to: catalog)
            ?? ClientAccess(Viewer(who: "", roles: [], claims: AccessClaims()), to: catalog)
    }
}
