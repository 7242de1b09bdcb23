/// A resource as one client sees it, with the client's roles and claims.
package final class ResourceView: Sendable {
    struct Grant: Sendable {
        let role: RoleRule
        /// The tests, parallel to the role's conditions.
        let tests: [SettledTest]
    }

    /// The resource.
    package let resource: Resource
    /// The client.
    package let viewer: Viewer
    let grants: [Grant]
    /// The tests of each filter, or empty if all rows match.
    ///
    /// A row has to meet all tests of one filter.
    let filters: [[FieldTest]]
    private let sights: [RecordSight]
    private let everything: RecordSight

    init(of resource: Resource, for viewer: Viewer) {
        self.resource = resource
        self.viewer = viewer
        let columns = resource.root.columns
        let roles = resource.access.map { access in
            access.roles.filter { viewer.roles.contains($0.name) && $0.readsAnything }
        }
        grants = (roles ?? [.unlimited(resource)]).map { role in
            Grant(role: role, tests: role.conditions.map { SettledTest($0.test, of: columns[$0.column], for: viewer) })
        }
        let filters = viewer.filters.map { filter in
            filter.conditions(on: resource).compactMap { FieldTest($0, of: resource.root) }
        }
        self.filters = filters.contains(where: \.isEmpty) ? [] : filters
        sights = grants.map { RecordSight($0.role.reads) }
        everything = Self.union(sights, of: resource)
    }

    private static func union(_ sights: [RecordSight], of resource: Resource) -> RecordSight {
        if sights.count == 1 { return sights[0] }
        let none = resource.sections.map { SectionRights.none(of: $0) }
        return RecordSight(
            sights.reduce(none) { sum, sight in zip(sum, sight.sections).map { $0.union($1) } })
    }

    /// True if the client can read nothing of the resource.
    package var isClosed: Bool { grants.isEmpty }

    /// True if the client can see every row and has chosen all of them.
    package var seesEveryRow: Bool { mayReadEveryRow && filters.isEmpty }

    /// True if the client's roles let it read every row, whatever its filter chooses.
    package var mayReadEveryRow: Bool { grants.contains { $0.tests.isEmpty } }

    /// True if the client can see every field of every row.
    package var seesEverything: Bool {
        filters.isEmpty && grants.contains { $0.tests.isEmpty && $0.role.reads.allSatisfy(\.isAll) }
    }

    /// True if a role of the client reads every field of the rows that it sees.
    package var readsEveryField: Bool { grants.contains { $0.role.reads.allSatisfy(\.isAll) } }

    /// Returns the roles under which the client sees a root row, or none if the row does not exist for it.
    package func grants(on root: [Value]) -> GrantSet {
        let found = rights(on: root)
        return found.isEmpty || matches(root, under: found) ? found : .none
    }

    private func rights(on root: [Value]) -> GrantSet {
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

    /// Returns the roles under which the client may read a row with these values of `AccessRules.columns`.
    ///
    /// Filters do not count, because the values need not include their columns.
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

    /// The client with only the roles, claims and filters that decide about rows, or nil if it sees every row.
    package var asConditionsSee: Viewer? {
        if seesEveryRow { return nil }
        let claims = resource.access?.claims ?? []
        let members = viewer.claims.names.filter { claims.contains($0.string) }.compactMap { name in
            viewer.claims[name.string].map { (name, $0) }
        }
        return Viewer(
            who: claims.contains("who") ? viewer.who : "", roles: Set(grants.map(\.role.name)),
            claims: AccessClaims(Dictionary(members) { first, _ in first }),
            filters: filters.isEmpty ? [] : viewer.filters.map { $0.only(resource) })
    }

    /// Returns true if a root row exists for the client.
    package func shows(_ root: [Value]) -> Bool { !grants(on: root).isEmpty }

    /// Returns the parts that a set of roles may read together.
    package func sight(_ set: GrantSet) -> RecordSight {
        let chosen = sights.indices.filter { set.contains($0) }.map { sights[$0] }
        return chosen.count == sights.count ? everything : Self.union(chosen, of: resource)
    }

    /// The parts that the client may read in at least one row.
    package var widestSight: RecordSight { everything }

    /// The parts that the client may read in every row.
    package var sightOfEveryRow: RecordSight {
        var always = GrantSet.none
        for (position, grant) in grants.enumerated() where grant.tests.isEmpty { always.insert(position) }
        return sight(always)
    }

    /// Returns a record as the client sees it under these roles, or nil if it does not exist for the client.
    package func seen(_ record: Record, under roles: GrantSet = .all) -> Record? {
        guard case .one(let root?)? = record.sections.first else { return nil }
        let set = grants(on: root).intersection(roles)
        if set.isEmpty { return nil }
        var seen = record
        let sight = sight(set)
        seen.sight = sight.isAll ? nil : sight
        return seen
    }

    /// Returns the columns that the creation of a record sets from claims under a role.
    ///
    /// - Returns: nil if a claim is missing, is a list, or is no value that a client could write to its column.
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

    /// Returns the position of the first role of a set, if any.
    package func first(of set: GrantSet) -> Int? { grants.indices.first { set.contains($0) } }
}
