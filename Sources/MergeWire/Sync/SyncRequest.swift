/// The body of `POST /v1/sync`, as far as it says what is asked of the feed; its pushes are read one by one.
package struct SyncRequest: Sendable {
    /// A push as it stands in the body.
    package struct SentPush: Sendable {
        /// The key, where it is a text.
        package let key: String?
        /// The push as JSON.
        package let body: [UInt8]
    }

    /// The revision up to which the client has everything; nil where it asks for no changes.
    package let since: Int?
    /// The feed that the revision is of.
    package let feed: String?
    /// The resources whose changes are told; nil for all.
    package let resources: [String]?
    /// Changes on the page; nil for as many as usual.
    package let limit: Int?
    /// In the order in which they run.
    package let pushes: [SentPush]
}
