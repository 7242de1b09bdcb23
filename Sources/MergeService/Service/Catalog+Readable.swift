package import MergeCore

extension Catalog {
    /// Returns the resources of which a client may read something.
    ///
    /// - Parameter access: nil for one who may read everything.
    package func readable(by access: ClientAccess?) -> [Resource] {
        guard let viewer = access?.viewer else { return resources }
        return resources.filter { viewer.view(of: $0)?.isClosed != true }
    }

    /// Returns a resource of which a client may read something; nil where there is none of this name.
    package func readable(_ name: String, by access: ClientAccess?) -> Resource? {
        guard let resource = self[name], access?.viewer.view(of: resource)?.isClosed != true else { return nil }
        return resource
    }
}
