/// A change of one record, before it has a revision.
package struct CommittedChange: Sendable, Hashable {
    /// The record that changed.
    package let name: RecordName
    /// The push that made it; nil where a program did that bypasses the gateway.
    package let push: SequencedChange.Push?

    /// Notes that something changed a record.
    package init(name: RecordName, push: SequencedChange.Push?) {
        self.name = name
        self.push = push
    }

    /// Notes that a push changed a record.
    package init(name: RecordName, entry: Int, sender: Sender) {
        self.init(name: name, push: SequencedChange.Push(entry: entry, sender: sender))
    }
}
