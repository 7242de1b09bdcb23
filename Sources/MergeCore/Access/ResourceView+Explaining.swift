extension ResourceView {
    /// The reasons for which a role holds on a row or does not.
    package struct Explanation: Sendable {
        /// The role.
        package let role: RoleRule
        /// Every condition of the role is met.
        package let isMet: Bool
        /// Sentences on the conditions that are not met.
        package let failures: [String]
    }

    /// Returns the reasons for which each role of the client holds on a row.
    ///
    /// - Parameter root: the row of the root; nil takes every condition as met.
    package func explanations(on root: [Value]?) -> [Explanation] {
        grants.map { grant in
            guard let root else { return Explanation(role: grant.role, isMet: true, failures: []) }
            var failures: [String] = []
            for (condition, test) in zip(grant.role.conditions, grant.tests) {
                let column = resource.root.columns[condition.column]
                if test.isMet(by: root[condition.column], of: column.type) { continue }
                let why =
                    test == .never
                    ? "the token makes no claim that the column could hold" : "the row does not meet its condition"
                failures.append("column “\(column.name)”: \(why)")
            }
            return Explanation(role: grant.role, isMet: failures.isEmpty, failures: failures)
        }
    }
}
