package import MergeCore

extension ReadRecord {
    /// Returns the record as a client sees it; nil if it does not exist for the client.
    ///
    /// - Parameter viewer: nil for a client that sees everything.
    package func seen(by viewer: Viewer?, of resource: Resource) -> ReadRecord? { seen(by: viewer?.view(of: resource)) }
}

extension Record {
    /// Returns the record as a client sees it; nil where it does not exist for it.
    ///
    /// - Parameter viewer: nil for one who sees everything.
    package func seen(by viewer: Viewer?, of resource: Resource) -> Record? { seen(by: viewer?.view(of: resource)) }

    /// Returns the record as it is seen; nil where it does not exist for whoever looks.
    ///
    /// - Parameters:
    ///   - view: nil for one who sees everything.
    ///   - roles: the roles that count; a preview leaves out roles that hold only after the write.
    func seen(by view: ResourceView?, under roles: GrantSet = .all) -> Record? {
        view.map { $0.seen(self, under: roles) } ?? self
    }
}
