package import MergeCore

extension Catalog {
    /// Returns the resources of which a client may read a part.
    ///
    /// - Parameter access: nil without access rules.
    package func readable(by access: ClientAccess?) -> [Resource] {
        guard let viewer = access?.viewer else { return resources }
        return resources.filter { viewer.view(of: $0)?.isClosed != true }
    }

    /// Returns true if a client sees every field of every row.
    package func isWhollyReadable(by access: ClientAccess?) -> Bool {
        guard let viewer = access?.viewer else { return true }
        return resources.allSatisfy { viewer.view(of: $0)?.seesEverything ?? true }
    }

    /// Returns the resource with this name, if a client may read a part of it.
    package func readable(_ name: String, by access: ClientAccess?) -> Resource? {
        guard let resource = self[name], access?.viewer.view(of: resource)?.isClosed != true else { return nil }
        return resource
    }
}
