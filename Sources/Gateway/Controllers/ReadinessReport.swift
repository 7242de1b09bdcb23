import MergeWire

/// The answer of `/readyz`.
struct ReadinessReport {
    let isReady: Bool
    let version: String?
    let trouble: [String]
    /// nil before the journal is open.
    let promise: String?
    /// The database's estimate; nil if the journal is off.
    let journalRows: Int?
    let journalBytes: Int?
    let journalLastDay: Int?
    /// nil if there is no feed.
    let feed: FeedReport?

    var json: [UInt8] {
        OperatorJSON.readiness(
            isReady: isReady, rules: version, trouble: trouble, promise: promise, rows: journalRows,
            bytes: journalBytes, lastDay: journalLastDay, feed: feed)
    }
}
