/// The last change of a record, with its revision.
package struct SequencedChange: Sendable, Hashable {
    /// The push that made a change.
    package struct Push: Sendable, Hashable {
        /// The number of its journal entry.
        package let entry: Int
        /// The sender of the push.
        package let sender: Sender

        /// Describes the push that made a change.
        package init(entry: Int, sender: Sender) {
            self.entry = entry
            self.sender = sender
        }
    }

    /// The revision of the change.
    package let revision: Int
    /// The record that changed.
    package let name: RecordName
    /// The push that made it; nil for a foreign change.
    package let push: Push?
    /// The history of the condition columns; nil if it is not known.
    package let conditions: ConditionHistory?
    /// True if the record has changed again since.
    ///
    /// The feed reports it only to clients that could see the record before and cannot see it now.
    package let isDeparture: Bool

    /// Adds a revision to a change.
    package init(
        revision: Int, name: RecordName, push: Push?, conditions: ConditionHistory? = nil, isDeparture: Bool = false
    ) {
        self.conditions = conditions
        self.isDeparture = isDeparture
        self.revision = revision
        self.name = name
        self.push = push
    }
}
