/// A committed change of one record, without a revision.
package struct CommittedChange: Sendable, Hashable {
    /// The record that changed.
    package let name: RecordName
    /// The push that made it; nil for a foreign change.
    package let push: SequencedChange.Push?
    /// The changes of the record's condition columns, in order; empty if no condition applies to the record.
    package var steps: [ConditionStep]

    /// Describes a change.
    package init(name: RecordName, push: SequencedChange.Push?, steps: [ConditionStep] = []) {
        self.name = name
        self.push = push
        self.steps = steps
    }

    /// Describes a change by a push.
    package init(name: RecordName, entry: Int, sender: Sender, steps: [ConditionStep] = []) {
        self.init(name: name, push: SequencedChange.Push(entry: entry, sender: sender), steps: steps)
    }
}
