/// The rows, sections and groups of a resource that each role may read and write.
package final class AccessRules: Sendable, Hashable {
    /// At most `maximumRoles` roles, in the order of the file.
    package let roles: [RoleRule]
    /// The root's columns that conditions name, sorted by name.
    package let columns: [Int]
    /// The steps to the referred rows whose columns conditions test.
    package let steps: [ReferenceStep]

    /// The claims that conditions read.
    package var claims: Set<String> { Set(roles.flatMap { $0.conditions.flatMap { $0.test.claims } }) }

    /// The maximum number of roles of a resource.
    package static let maximumRoles = 64

    /// Creates the access rules of a resource with this root.
    package init(roles: [RoleRule], root: Section) {
        self.roles = roles
        columns = Set(roles.flatMap { $0.conditions.map(\.column) })
            .sorted { root.columns[$0].name < root.columns[$1].name }
        steps = columns.compactMap { root.columns[$0].lookup }
    }

    package static func == (a: AccessRules, b: AccessRules) -> Bool { a === b || a.roles == b.roles }

    package func hash(into hasher: inout Hasher) { hasher.combine(roles.count) }
}

/// The rules for one role.
package struct RoleRule: Sendable, Hashable {
    /// The role's name in tokens.
    package let name: ExactText
    /// The line of the rule file.
    package let rule: RuleReference
    /// The fields that the role may read, by section.
    package let reads: [SectionRights]
    /// The fields that the role may write, by section; a subset of `reads`.
    package let writes: [SectionRights]
    /// True if the role may create records.
    package let creates: Bool
    /// The fields that the role may set in new rows, by section: all fields of `writes`, and fields that only a creation may set.
    package let initial: [SectionRights]
    /// True if the role may delete records.
    package let deletes: Bool
    /// The conditions on the role's rows, joined by AND.
    package let conditions: [RowCondition]
    /// The columns of the root that a creation sets from claims.
    package let sets: [ClaimAssignment]

    /// Creates the rules for a role.
    ///
    /// - Parameter initial: the fields that only a creation may set; nil for none.
    package init(
        name: ExactText, rule: RuleReference, reads: [SectionRights], writes: [SectionRights], creates: Bool,
        initial: [SectionRights]? = nil, deletes: Bool, conditions: [RowCondition] = [],
        sets: [ClaimAssignment] = []
    ) {
        self.name = name
        self.rule = rule
        self.reads = reads
        self.writes = zip(writes, reads).map { $0.intersection($1) }
        self.creates = creates
        self.initial = zip(zip(writes, initial ?? writes), reads).map { $0.0.union($0.1).intersection($1) }
        self.deletes = deletes
        self.conditions = conditions
        self.sets = sets
    }

    /// The role of every client for a resource without access rules.
    static func unlimited(_ resource: Resource) -> RoleRule {
        let all = resource.sections.map { SectionRights.all(of: $0) }
        return RoleRule(
            name: ExactText(""), rule: .default, reads: all, writes: all, creates: true, deletes: true)
    }

    var readsAnything: Bool { reads.contains(where: \.isGiven) }
}

/// The fields of one section that a right covers.
package struct SectionRights: Sendable, Hashable {
    /// True if the right covers the section at all.
    package let isGiven: Bool
    /// The covered fields, parallel to the section's `shown`.
    package let fields: [Bool]

    /// Covers some fields of a section, or a section without fields.
    package init(isGiven: Bool, fields: [Bool]) {
        self.isGiven = isGiven
        self.fields = fields
    }

    /// Covers the whole section.
    package static func all(of section: Section) -> SectionRights {
        SectionRights(isGiven: true, fields: section.shown.map { _ in true })
    }

    /// Covers nothing of the section.
    package static func none(of section: Section) -> SectionRights {
        SectionRights(isGiven: false, fields: section.shown.map { _ in false })
    }

    /// True if the right covers every field.
    package var isAll: Bool { isGiven && fields.allSatisfy(\.self) }

    func intersection(_ other: SectionRights) -> SectionRights {
        let both = zip(fields, other.fields).map { $0 && $1 }
        return SectionRights(isGiven: isGiven && other.isGiven, fields: both)
    }

    func union(_ other: SectionRights) -> SectionRights {
        SectionRights(isGiven: isGiven || other.isGiven, fields: zip(fields, other.fields).map { $0 || $1 })
    }
}

/// A column that a creation sets from a claim.
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
