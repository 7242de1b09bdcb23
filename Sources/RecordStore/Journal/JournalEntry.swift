/// The entry that the journal keeps of one edited record.
package struct JournalEntry: Sendable, Hashable {
    /// The name of the resource.
    package let resource: String
    /// The record's key as URLs spell it.
    package let record: String
    /// The status of the edit.
    package let status: String
    /// The outcomes that occur, each once, a comma before, between and behind.
    package let outcomes: String
    /// The version of the rules.
    package let rules: String
    /// The outcomes in full, as JSON.
    package let body: [UInt8]
    /// The records that the edit changed, its own and those that show a row of it, for the feed.
    package let changed: [RecordName]
    /// The steps that conditions of access see in those records, as far as they look at them.
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
