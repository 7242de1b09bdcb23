/// A client as access rules see it.
package struct Viewer: Sendable, Hashable {
    /// The name in the token, which is also the claim `who`.
    package let who: String
    /// The roles of the token.
    package let roles: Set<ExactText>
    /// The claims of the token.
    package let claims: AccessClaims
    /// The client's filters, of which a record has to match one, or empty if all records match.
    package let filters: [RecordFilter]

    /// Creates a viewer from a token.
    package init(who: String, roles: Set<ExactText>, claims: AccessClaims, filters: [RecordFilter] = []) {
        self.who = who
        self.roles = roles
        self.claims = claims
        self.filters = filters
    }

    /// Compares all parts, because equal viewers share pages that were read for one of them.
    package static func == (a: Viewer, b: Viewer) -> Bool {
        ExactText(a.who) == ExactText(b.who) && a.roles == b.roles && a.claims == b.claims && a.filters == b.filters
    }

    /// The client of a gateway without access rules.
    package static let anonymous = Viewer(who: "", roles: [], claims: AccessClaims())

    /// Returns a copy of the viewer with other filters.
    package func with(_ filters: [RecordFilter]) -> Viewer {
        Viewer(who: who, roles: roles, claims: claims, filters: filters)
    }

    /// Returns the client's view of a resource, or nil if neither access rules nor filters limit it.
    package func view(of resource: Resource) -> ResourceView? {
        let isFiltered = !filters.isEmpty && filters.allSatisfy { !$0.conditions(on: resource).isEmpty }
        guard resource.access != nil || isFiltered else { return nil }
        return ResourceView(of: resource, for: self)
    }

    /// Returns true if the token has a claim that is not null; an empty name counts as missing.
    func makes(_ name: String) -> Bool {
        switch claim(name) {
        case nil, .null?: false
        case .some: name != "who" || !who.isEmpty
        }
    }

    private func claim(_ name: String) -> Scalar? { name == "who" ? .text(who) : claims[name] }

    /// Returns the values of a claim in the column's type, or nil if there are none.
    ///
    /// The result omits elements of a list that the column cannot store.
    func values(of name: String, in column: Column) -> [Value]? {
        switch claim(name) {
        case nil, .null?: return nil
        case .array(let elements)?: return elements.compactMap { Self.value($0, in: column) }
        case .some(let scalar): return Self.value(scalar, in: column).map { [$0] }
        }
    }

    /// Returns the single value of a claim in the column's type, or nil if it is missing or a list.
    func value(of name: String, in column: Column) -> Value? {
        guard let scalar = claim(name) else { return nil }
        if case .array = scalar { return nil }
        return Self.value(scalar, in: column)
    }

    private static func value(_ scalar: Scalar, in column: Column) -> Value? {
        if case .array = scalar { return nil }
        guard let value = try? column.type.accept(scalar), !value.isNull else { return nil }
        return value
    }
}
