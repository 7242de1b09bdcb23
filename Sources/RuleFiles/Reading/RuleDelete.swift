/// The assignments that deleting a row writes instead.
struct RuleDelete: Sendable, Hashable {
    let place: Place
    let assignments: [RuleAssignment]
}
