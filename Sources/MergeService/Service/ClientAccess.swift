package import MergeCore

/// The rights of a request's sender, if access rules or a filter apply.
package final class ClientAccess: Sendable, Hashable {
    /// The client as access rules evaluate it.
    package let viewer: Viewer
    /// A digest of the rights; equal digests mean equal rights.
    package let digest: [UInt8]
    /// The canonical text of the client's filter; nil without one.
    package let filter: String?

    /// Creates access rights with their digest.
    package init(viewer: Viewer, digest: [UInt8], filter: String? = nil) {
        self.viewer = viewer
        self.digest = digest
        self.filter = filter
    }

    package static func == (a: ClientAccess, b: ClientAccess) -> Bool {
        a === b || (a.viewer, a.digest, a.filter) == (b.viewer, b.digest, b.filter)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(digest)
        hasher.combine(filter)
    }
}
