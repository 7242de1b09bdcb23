/// The resources that this client may read, in one version of the rules.
package struct Rules: Sendable {
    /// The version, a digest of all but the limits.
    package let version: String
    /// Bounds on what a request may hold.
    package let limits: Limits
    /// The resources by their names.
    package let resources: [String: ResourceRules]

    /// Bounds on what a request may hold.
    package struct Limits: Sendable {
        /// Bytes of a body.
        package let body: Int
        /// Edits of a request.
        package let edits: Int
        /// Rows that an edit changes.
        package let items: Int
    }

    /// Reads an answer of `GET /v1/rules`; nil for another form.
    package init?(text: String) {
        guard let document = JSONValue(text: text), let version = document["version"].stringValue,
            let told = document["resources"].arrayValue
        else { return nil }
        self.version = version
        let limits = document["limits"]
        self.limits = Limits(
            body: limits["body"].intValue ?? 1 << 20, edits: limits["edits"].intValue ?? 1_000,
            items: limits["items"].intValue ?? 10_000)
        let resources = told.compactMap(ResourceRules.init)
        guard resources.count == told.count else { return nil }
        self.resources = Dictionary(resources.map { ($0.name, $0) }) { _, last in last }
    }

    /// Returns a resource.
    ///
    /// - Throws: `InvalidEdit` with the nearest name if there is none.
    package func resource(_ name: String) throws(InvalidEdit) -> ResourceRules {
        guard let resource = resources[name] else {
            throw InvalidEdit(unknown: name, among: resources.keys, path: name)
        }
        return resource
    }
}
