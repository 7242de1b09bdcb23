/// The one who reads or writes, as far as rules of access look at a client.
package struct Viewer: Sendable, Hashable {
    /// The name in the token, which conditions know as the claim `who`.
    package let who: String
    /// The roles that the token gives.
    package let roles: Set<ExactText>
    /// The claims that the token makes.
    package let claims: AccessClaims

    /// Describes a client by its token.
    package init(who: String, roles: Set<ExactText>, claims: AccessClaims) {
        self.who = who
        self.roles = roles
        self.claims = claims
    }

    /// Returns what the client may do with a resource; nil where the rules let everybody read and write it.
    package func view(of resource: Resource) -> ResourceView? {
        resource.access.map { ResourceView($0, of: resource, for: self) }
    }

    private func claim(_ name: String) -> Scalar? { name == "who" ? .text(who) : claims[name] }

    /// Returns the values of a claim as a column holds them; nil where there is none that it could hold.
    ///
    /// Elements of a list that it cannot hold are left out.
    func values(of name: String, in column: Column) -> [Value]? {
        switch claim(name) {
        case nil, .null?: return nil
        case .array(let elements)?: return elements.compactMap { Self.value($0, in: column) }
        case .some(let scalar): return Self.value(scalar, in: column).map { [$0] }
        }
    }

    /// Returns the one value of a claim as a column holds it; nil where there is none, or where it is a list.
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
