/// The body of `POST /v1/sync` with undecoded pushes.
package struct SyncRequest: Sendable {
    /// A push in the body.
    package struct SentPush: Sendable {
        /// The key, if it is a string.
        package let key: String?
        /// The push as JSON.
        package let body: [UInt8]
    }

    /// The revision up to which the client has everything, or nil if it requests no changes.
    package let since: Int?
    /// The feed of the revision.
    package let feed: String?
    /// The resources whose changes are requested, or nil for all.
    package let resources: [String]?
    /// The maximum number of changes, or nil for the default.
    package let limit: Int?
    /// The filter of the changes as JSON, or nil for all records.
    package let filter: [UInt8]?
    /// The pushes in the order of their execution.
    package let pushes: [SentPush]
}
