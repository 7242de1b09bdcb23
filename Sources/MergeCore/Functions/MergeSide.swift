/// One of the two sides of a merge.
package enum MergeSide: Sendable, Hashable {
    case client
    case server

    /// The opposite side.
    package var other: MergeSide { self == .client ? .server : .client }
}
