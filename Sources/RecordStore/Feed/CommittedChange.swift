/// A change of one record, before it has a revision.
package struct CommittedChange: Sendable, Hashable {
    /// The record that changed.
    package let name: RecordName
    /// The push that made it; nil where a program did that bypasses the gateway.
    package let push: SequencedChange.Push?
    /// The steps that conditions of access see, in their order; none where they do not look at the record.
    package var steps: [ConditionStep]

    /// Notes that something changed a record.
    package init(name: RecordName, push: SequencedChange.Push?, steps: [ConditionStep] = []) {
        self.name = name
        self.push = push
        self.steps = steps
    }

    /// Notes that a push changed a record.
    package init(name: RecordName, entry: Int, sender: Sender, steps: [ConditionStep] = []) {
        self.init(name: name, push: SequencedChange.Push(entry: entry, sender: sender), steps: steps)
    }
}
