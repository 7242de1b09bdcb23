/// The result of one record as text.
package struct ResultText: Sendable {
    /// The resource, or nil in a journal entry.
    package let resource: String?
    /// The record's key.
    package let id: String?
    /// The status of the edit, or nil in a journal entry.
    package let status: String?
    /// The outcomes of the groups and rows.
    package let outcomes: [OutcomeText]
    /// The reason of a refusal.
    package let problem: String?
    /// The code of the reason.
    package let code: String?
    /// The path of the fault in the push.
    package var path: String?
    /// The constraint of the database, or the check of the rules.
    package var constraint: String?
    /// The line of the rule that refused the push.
    package var rule: String?
    /// The id of the request in a journal entry.
    package let request: String?
}
