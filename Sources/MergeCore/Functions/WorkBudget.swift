/// An amount of work that may still be done, in steps: bytes that are cut into words, tokens and members that are
/// compared.
///
/// A value and no clock: the same input spends the same wherever it runs, so a push that runs again is decided alike.
package struct WorkBudget: Sendable, Hashable {
    /// The steps that are left.
    package private(set) var left: Int

    /// The budget of the merge functions of one push: about a second of one processor.
    package static let push = WorkBudget(steps: 400_000_000)

    /// Makes a budget of so many steps.
    package init(steps: Int) {
        left = steps
    }

    /// Takes steps off the budget.
    ///
    /// - Throws: `WorkSpent` where fewer are left; then none is left for anything that follows.
    package mutating func spend(_ steps: Int) throws(WorkSpent) {
        guard steps <= left else {
            left = 0
            throw WorkSpent()
        }
        left -= steps
    }
}

/// The error of work that takes more steps than are left.
package struct WorkSpent: Error {}
