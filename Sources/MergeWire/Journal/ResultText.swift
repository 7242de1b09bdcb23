/// The result of one record.
package struct ResultText: Sendable {
    /// nil in an entry of the journal, which says it elsewhere.
    package let resource: String?
    /// The record's key.
    package let id: String?
    /// The status of the edit; nil in an entry of the journal, which says it elsewhere.
    package let status: String?
    /// The outcomes of its groups and rows.
    package let outcomes: [OutcomeText]
    /// The reason for which it was refused.
    package let problem: String?
    /// The code of that reason.
    package let code: String?
}
