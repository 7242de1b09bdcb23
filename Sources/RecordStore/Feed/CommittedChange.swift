/// A change of one record that a push made, before it has a revision.
package struct CommittedChange: Sendable, Hashable {
    /// The record that changed.
    package let name: RecordName
    /// The number of the journal's entry that tells of it.
    package let entry: Int
    /// The sender of the push.
    package let sender: Sender

    /// Notes that a push changed a record.
    package init(name: RecordName, entry: Int, sender: Sender) {
        self.name = name
        self.entry = entry
        self.sender = sender
    }
}
