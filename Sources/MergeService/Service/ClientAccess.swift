package import MergeCore

/// The rights of the one who sends a request, where the rules of some resource look at them.
package final class ClientAccess: Sendable, Hashable {
    /// The client as rules of access see it.
    package let viewer: Viewer
    /// Tells what the client may see: where two are equal, so is what is seen.
    package let digest: [UInt8]

    /// Bundles a client with the digest of what it may see.
    package init(viewer: Viewer, digest: [UInt8]) {
        self.viewer = viewer
        self.digest = digest
    }

    package static func == (a: ClientAccess, b: ClientAccess) -> Bool {
        a === b || (a.viewer, a.digest) == (b.viewer, b.digest)
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
