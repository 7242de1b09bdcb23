/// One of the two sides of a merge: whoever sent the edit, or the database.
package enum MergeSide: Sendable, Hashable {
    case client
    case server

    /// The side across.
    package var other: MergeSide { self == .client ? .server : .client }
}
