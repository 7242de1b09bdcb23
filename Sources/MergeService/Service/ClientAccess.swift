package import MergeCore

/// The rights of a request's sender, if access rules apply.
package final class ClientAccess: Sendable, Hashable {
    /// The client as access rules evaluate it.
    package let viewer: Viewer
    /// A digest of the rights; equal digests mean equal rights.
    package let digest: [UInt8]

    /// Creates access rights with their digest.
    package init(viewer: Viewer, digest: [UInt8]) {
        self.viewer = viewer
        self.digest = digest
    }

    package static func == (a: ClientAccess, b: ClientAccess) -> Bool {
        a === b || (a.viewer, a.digest) == (b.viewer, b.digest)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
