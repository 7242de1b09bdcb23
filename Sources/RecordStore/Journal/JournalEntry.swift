/// The journal entry of one edited record.
package struct JournalEntry: Sendable, Hashable {
    /// The name of the resource.
    package let resource: String
    /// The record's key as URLs spell it.
    package let record: String
    /// The status of the edit.
    package let status: String
    /// The different outcomes, with a comma before and after each.
    package let outcomes: String
    /// The version of the rules.
    package let rules: String
    /// All outcomes, as JSON.
    package let body: [UInt8]
    /// The records that the edit changed, also those that only show a changed row, for the feed.
    package let changed: [RecordName]
    /// The changes of these records' condition columns, if a condition applies.
    package let steps: [RecordName: ConditionStep]

    /// Makes the entry of one record.
    package init(
        resource: String, record: String, status: String, outcomes: String, rules: String, body: [UInt8],
        changed: [RecordName], steps: [RecordName: ConditionStep] = [:]
    ) {
        self.steps = steps
        self.resource = resource
        self.record = record
        self.status = status
        self.outcomes = outcomes
        self.rules = rules
        self.body = body
        self.changed = changed
    }
}
