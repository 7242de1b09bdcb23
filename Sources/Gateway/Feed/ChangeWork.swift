import ChangeFeed

/// The parts of the gateway that work for the change feed.
struct ChangeWork: Sendable {
    let feed: ChangeFeed
    /// Stores delivery records.
    let shown: ShownRecords
    /// Finds foreign changes.
    let source: any ForeignChangeSource
}
