extension ResourceView {
    /// The reasons why a role applies to a row or not.
    package struct Explanation: Sendable {
        /// The role.
        package let role: RoleRule
        /// True if the row meets every condition of the role.
        package let isMet: Bool
        /// Sentences about the conditions that the row does not meet.
        package let failures: [String]
    }

    /// Returns the reasons for each role of the client on a root row; without a row, every condition holds.
    package func explanations(on root: [Value]?) -> [Explanation] {
        grants.map { grant in
            guard let root else { return Explanation(role: grant.role, isMet: true, failures: []) }
            var failures: [String] = []
            for (condition, test) in zip(grant.role.conditions, grant.tests) {
                let column = resource.root.columns[condition.column]
                if test.isMet(by: root[condition.column], of: column.type) { continue }
                let why =
                    test == .never
                    ? "the token has no claim that the column can store" : "the row does not meet its condition"
                failures.append("column “\(column.name)”: \(why)")
            }
            return Explanation(role: grant.role, isMet: failures.isEmpty, failures: failures)
        }
    }
}
