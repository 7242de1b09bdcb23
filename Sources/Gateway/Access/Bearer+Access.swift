import MergeCore
import MergeService
import Operations
import Synchronization

extension Bearer {
    /// The bearer as rules of access see it.
    var viewer: Viewer { Viewer(who: name, roles: roles, claims: claims) }

    /// Returns the bearer's rights where rules of access hold.
    ///
    /// - Parameter catalog: the resources that are served, some with rules of access.
    func access(to catalog: Catalog) -> ClientAccess {
        memo.withLock { memo in
            // A rule or a column that changes makes another version.
            if let memo, memo.version == catalog.version { return memo.access }
            let access = ClientAccess(viewer, to: catalog)
            memo = (catalog.version, access)
            return access
        }
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
