/// A resource as one client sees it: the roles of the client that its rules name, with the claims put in.
///
/// Pure: everything is judged on rows as they are given.
package final class ResourceView: Sendable {
    /// A role of the client.
    struct Grant: Sendable {
        let role: RoleRule
        /// Parallel to the role's conditions.
        let tests: [SettledTest]
    }

    /// The resource.
    package let resource: Resource
    /// The client.
    package let viewer: Viewer
    let grants: [Grant]
    private let sights: [RecordSight]
    private let everything: RecordSight

    init(_ access: AccessRules, of resource: Resource, for viewer: Viewer) {
        self.resource = resource
        self.viewer = viewer
        let columns = resource.root.columns
        grants = access.roles.filter { viewer.roles.contains($0.name) && $0.readsAnything }.map { role in
            Grant(role: role, tests: role.conditions.map { SettledTest($0.test, of: columns[$0.column], for: viewer) })
        }
        sights = grants.map { RecordSight($0.role.reads) }
        everything = Self.union(sights, of: resource)
    }

    private static func union(_ sights: [RecordSight], of resource: Resource) -> RecordSight {
        if sights.count == 1 { return sights[0] }
        let none = resource.sections.map { SectionRights.none(of: $0) }
        return RecordSight(
            sights.reduce(none) { sum, sight in zip(sum, sight.sections).map { $0.union($1) } })
    }

    /// True where the client reads nothing of the resource, whatever the row.
    package var isClosed: Bool { grants.isEmpty }

    /// True where every row is shown, whatever it holds.
    package var seesEveryRow: Bool { grants.contains { $0.tests.isEmpty } }

    /// True where every field of every row is shown.
    package var seesEverything: Bool { grants.contains { $0.tests.isEmpty && $0.role.reads.allSatisfy(\.isAll) } }

    /// Returns the roles under which the client sees a row of the root; none where the row does not exist for it.
    package func grants(on root: [Value]) -> GrantSet {
        var found = GrantSet.none
        let columns = resource.root.columns
        for (position, grant) in grants.enumerated() {
            let isMet = zip(grant.role.conditions, grant.tests).allSatisfy { condition, test in
                test.isMet(by: root[condition.column], of: columns[condition.column].type)
            }
            if isMet { found.insert(position) }
        }
        return found
    }

    /// Returns the roles under which the client sees a row of which only the columns that conditions name are known.
    ///
    /// - Parameter values: parallel to the `columns` of the resource's rules of access.
    package func grants(onConditions values: [Value]) -> GrantSet {
        guard let named = resource.access?.columns, named.count == values.count else { return .all }
        var found = GrantSet.none
        let columns = resource.root.columns
        for (position, grant) in grants.enumerated() {
            let isMet = zip(grant.role.conditions, grant.tests).allSatisfy { condition, test in
                guard let place = named.firstIndex(of: condition.column) else { return false }
                return test.isMet(by: values[place], of: columns[condition.column].type)
            }
            if isMet { found.insert(position) }
        }
        return found
    }

    /// The client as far as conditions on rows look at it; nil where it sees every row.
    package var asConditionsSee: Viewer? {
        guard !seesEveryRow, let access = resource.access else { return nil }
        let claims = access.claims
        let members = viewer.claims.names.filter { claims.contains($0.string) }.compactMap { name in
            viewer.claims[name.string].map { (name, $0) }
        }
        return Viewer(
            who: claims.contains("who") ? viewer.who : "", roles: Set(grants.map(\.role.name)),
            claims: AccessClaims(Dictionary(members) { first, _ in first }))
    }

    /// Returns true where a row of the root exists for the client.
    package func shows(_ root: [Value]) -> Bool { !grants(on: root).isEmpty }

    /// Returns what some roles together may read.
    package func sight(_ set: GrantSet) -> RecordSight {
        let chosen = sights.indices.filter { set.contains($0) }.map { sights[$0] }
        return chosen.count == sights.count ? everything : Self.union(chosen, of: resource)
    }

    /// The rights of the client to read one row or another.
    package var widestSight: RecordSight { everything }

    /// The rights of the client to read any row.
    package var sightOfEveryRow: RecordSight {
        var always = GrantSet.none
        for (position, grant) in grants.enumerated() where grant.tests.isEmpty { always.insert(position) }
        return sight(always)
    }

    /// Returns a record as the client sees it; nil if it does not exist for the client.
    ///
    /// - Parameter roles: the roles that count, of those that hold on the record.
    package func seen(_ record: Record, under roles: GrantSet = .all) -> Record? {
        guard case .one(let root?)? = record.sections.first else { return nil }
        let set = grants(on: root).intersection(roles)
        if set.isEmpty { return nil }
        var seen = record
        let sight = sight(set)
        seen.sight = sight.isAll ? nil : sight
        return seen
    }

    /// Returns the columns that the creation of a record takes from claims under a role.
    ///
    /// - Returns: nil where a claim is missing, a list, or nothing that a client could write to its column.
    package func assignments(under role: Int) -> [Assignment]? {
        let sets = grants[role].role.sets
        let assignments = sets.compactMap { set -> Assignment? in
            let column = resource.root.columns[set.column]
            guard let value = viewer.value(of: set.claim, in: column), column.type.forbidsWriting(value) == nil else {
                return nil
            }
            return Assignment(column: set.column, value: value)
        }
        return assignments.count == sets.count ? assignments : nil
    }

    /// Returns the position of the first role of a set; nil where it is empty.
    package func first(of set: GrantSet) -> Int? { grants.indices.first { set.contains($0) } }
}
