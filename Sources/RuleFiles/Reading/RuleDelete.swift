/// The assignments that replace a deletion.
struct RuleDelete: Sendable, Hashable {
    let place: Place
    let assignments: [RuleAssignment]
}
