import MergeWire

/// The answer of `/readyz`: whether requests are served, under which rules, what the journal promises, and what is
/// wrong.
struct ReadinessReport {
    let isReady: Bool
    let version: String?
    let trouble: [String]
    /// nil as long as the journal is not open.
    let promise: String?
    /// As the database estimates it; nil where there is no journal.
    let journalRows: Int?
    let journalBytes: Int?
    /// Rows of the last day.
    let journalLastDay: Int?
    /// nil where there is no feed.
    let feed: FeedReport?

    var json: [UInt8] {
        OperatorJSON.readiness(
            isReady: isReady, rules: version, trouble: trouble, promise: promise, rows: journalRows,
            bytes: journalBytes, lastDay: journalLastDay, feed: feed)
    }
}
