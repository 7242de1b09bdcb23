package import MergeCore

extension ReadRecord {
    /// Returns the part of the record that a client may read; nil if the record is hidden.
    ///
    /// - Parameter viewer: nil without access rules.
    package func seen(by viewer: Viewer?, of resource: Resource) -> ReadRecord? { seen(by: viewer?.view(of: resource)) }
}

extension Record {
    /// Returns the part of the record that a client may read; nil if the record is hidden.
    ///
    /// - Parameter viewer: nil without access rules.
    package func seen(by viewer: Viewer?, of resource: Resource) -> Record? { seen(by: viewer?.view(of: resource)) }

    /// Returns the part of the record that a view allows; nil if it is hidden.
    ///
    /// - Parameter roles: the roles that count; a preview excludes roles that apply only after the write.
    func seen(by view: ResourceView?, under roles: GrantSet = .all) -> Record? {
        view.map { $0.seen(self, under: roles) } ?? self
    }
}
