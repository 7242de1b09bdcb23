/// A change of one record that a push made, before it has a revision.
package struct CommittedChange: Sendable, Hashable {
    /// The record that changed.
    package let name: RecordName
    /// The number of the journal's entry that tells of it.
    package let entry: Int
    /// The sender of the push.
    package let sender: Sender
    /// The steps that conditions of access see, in their order; none where they do not look at the record.
    package var steps: [ConditionStep] = []

    /// Notes that a push changed a record.
    package init(name: RecordName, entry: Int, sender: Sender, steps: [ConditionStep] = []) {
        self.steps = steps
        self.name = name
        self.entry = entry
        self.sender = sender
    }
}
