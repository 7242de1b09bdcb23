import MergeCore
import MergeService
import Operations
import Synchronization

extension Bearer {
    var viewer: Viewer { Viewer(who: name, roles: roles, claims: claims) }

    /// Returns the bearer's rights under the access rules of a catalog.
    func access(to catalog: Catalog) -> ClientAccess {
        memo.withLock { memo in
            // Every change of a rule or a column changes the version.
            if let memo, memo.version == catalog.version { return memo.access }
            let access = ClientAccess(viewer, to: catalog)
            memo = (catalog.version, access)
            return access
        }
    }
}

extension GatewayContext {
    /// Returns the client's rights; nil without access rules.
    func access(to catalog: Catalog) -> ClientAccess? {
        guard catalog.hasAccessRules else { return nil }
        // Access rules need tokens. A client without a token gets no role.
        return bearer?.access(to: catalog)
            ?? ClientAccess(Viewer(who: "", roles: [], claims: AccessClaims()), to: catalog)
    }
}
