import ChangeFeed

/// The work of a gateway for the feed of changes.
struct ChangeWork: Sendable {
    /// Gives revisions and tells them.
    let feed: ChangeFeed
    /// Notes what is sent.
    let shown: ShownRecords
    /// Looks for what programs wrote that bypass the gateway; nil where nobody does.
    let scan: ForeignScan?
}
