/// Rules that say which roles see and write which rows, sections and groups of a resource.
package final class AccessRules: Sendable, Hashable {
    /// In the order of the file; at most `maximumRoles`.
    package let roles: [RoleRule]
    /// The columns of the root that conditions name, in the order of their names.
    package let columns: [Int]

    /// The claims that conditions look at.
    package var claims: Set<String> { Set(roles.flatMap { $0.conditions.flatMap { $0.test.claims } }) }

    /// The greatest number of roles that one resource can name.
    package static let maximumRoles = 64

    /// Makes the rules of a resource.
    ///
    /// - Parameter root: the resource's root, whose columns the conditions name.
    package init(roles: [RoleRule], root: Section) {
        self.roles = roles
        columns = Set(roles.flatMap { $0.conditions.map(\.column) })
            .sorted { root.columns[$0].name < root.columns[$1].name }
    }

    package static func == (a: AccessRules, b: AccessRules) -> Bool { a === b || a.roles == b.roles }

    package func hash(into hasher: inout Hasher) { hasher.combine(roles.count) }
}

/// The rules for one role.
package struct RoleRule: Sendable, Hashable {
    /// The name that tokens give.
    package let name: ExactText
    /// The line that wrote it.
    package let rule: RuleReference
    /// The fields that it reads, by section.
    package let reads: [SectionRights]
    /// The fields that it writes, by section; none that it does not read.
    package let writes: [SectionRights]
    /// It may create records.
    package let creates: Bool
    /// It may delete records.
    package let deletes: Bool
    /// The conditions that its rows meet, all of them.
    package let conditions: [RowCondition]
    /// The columns of the root that a creation takes from claims.
    package let sets: [ClaimAssignment]

    /// Makes the rules for a role.
    package init(
        name: ExactText, rule: RuleReference, reads: [SectionRights], writes: [SectionRights], creates: Bool,
        deletes: Bool, conditions: [RowCondition] = [], sets: [ClaimAssignment] = []
    ) {
        self.name = name
        self.rule = rule
        self.reads = reads
        self.writes = zip(writes, reads).map { $0.intersection($1) }
        self.creates = creates
        self.deletes = deletes
        self.conditions = conditions
        self.sets = sets
    }

    /// It reads something of the resource.
    var readsAnything: Bool { reads.contains(where: \.isGiven) }
}

/// The fields of one section that a right covers.
package struct SectionRights: Sendable, Hashable {
    /// It covers something of the section.
    package let isGiven: Bool
    /// Parallel to the section's `shown`.
    package let fields: [Bool]

    /// Covers some fields of a section, or a section that has none.
    package init(isGiven: Bool, fields: [Bool]) {
        self.isGiven = isGiven
        self.fields = fields
    }

    /// Covers all of a section.
    package static func all(of section: Section) -> SectionRights {
        SectionRights(isGiven: true, fields: section.shown.map { _ in true })
    }

    /// Covers nothing of a section.
    package static func none(of section: Section) -> SectionRights {
        SectionRights(isGiven: false, fields: section.shown.map { _ in false })
    }

    /// True where it covers every field.
    package var isAll: Bool { isGiven && fields.allSatisfy(\.self) }

    func intersection(_ other: SectionRights) -> SectionRights {
        let both = zip(fields, other.fields).map { $0 && $1 }
        return SectionRights(isGiven: isGiven && other.isGiven, fields: both)
    }

    func union(_ other: SectionRights) -> SectionRights {
        SectionRights(isGiven: isGiven || other.isGiven, fields: zip(fields, other.fields).map { $0 || $1 })
    }
}

/// A column that a creation takes from a claim.
package struct ClaimAssignment: Sendable, Hashable {
    /// The position of the column in the root's `columns`.
    package let column: Int
    /// The name of the claim.
    package let claim: String

    /// Assigns a claim to a column.
    package init(column: Int, claim: String) {
        self.column = column
        self.claim = claim
    }
}
