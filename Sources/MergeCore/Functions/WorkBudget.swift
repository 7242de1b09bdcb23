/// The remaining steps for some work.
///
/// It counts steps, not time, so a repeated push has the same result everywhere.
package struct WorkBudget: Sendable, Hashable {
    /// The steps that are left.
    package private(set) var left: Int

    /// The budget of the merge functions of one push: about a second of one processor.
    package static let push = WorkBudget(steps: 400_000_000)

    /// Creates a budget.
    package init(steps: Int) {
        left = steps
    }

    /// Subtracts steps.
    ///
    /// - Throws: `WorkSpent` if too few steps are left. Afterwards none is left.
    package mutating func spend(_ steps: Int) throws(WorkSpent) {
        guard steps <= left else {
            left = 0
            throw WorkSpent()
        }
        left -= steps
    }
}

/// The error of work that needs more steps than are left.
package struct WorkSpent: Error {}
