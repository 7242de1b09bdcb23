/// The last change of a record, with its revision.
package struct SequencedChange: Sendable, Hashable {
    /// The push that made a change.
    package struct Push: Sendable, Hashable {
        /// The number of the journal's entry that tells of it.
        package let entry: Int
        /// The sender of the push.
        package let sender: Sender

        /// Names the push that made a change.
        package init(entry: Int, sender: Sender) {
            self.entry = entry
            self.sender = sender
        }
    }

    /// The revision of the change.
    package let revision: Int
    /// The record that changed.
    package let name: RecordName
    /// nil where a program changed it that bypasses the gateway.
    package let push: Push?
    /// The values that conditions of access have looked at; nil where they are not known.
    package let conditions: ConditionHistory?
    /// The record has changed since, and is told here only to whoever could see it before and can't now.
    package let isDeparture: Bool

    /// Gives a change its revision.
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
