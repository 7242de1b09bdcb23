package import MergeCore

extension Record {
    /// Returns the record as a client sees it; nil where it does not exist for it.
    ///
    /// - Parameter viewer: nil for one who sees everything.
    package func seen(by viewer: Viewer?, of resource: Resource) -> Record? { seen(by: viewer?.view(of: resource)) }

    /// Returns the record as it is seen; nil where it does not exist for whoever looks.
    ///
    /// - Parameter view: nil for one who sees everything.
    func seen(by view: ResourceView?) -> Record? { view.map { $0.seen(self) } ?? self }
}
