/// An occasion on which a problem has another title or status than its code usually has.
package enum ProblemTopic: Sendable, Hashable {
    // MARK: Of `invalid`

    case query
    case limit
    case deviceName
    /// The key of an item contradicts the record that contains it.
    case contradictoryKey
    /// One push contains resources with transactions and without.
    case mixedResources

    // MARK: Of `readOnly`

    case section
    case field

    // MARK: Of other codes

    /// The address, not the body, names the resource.
    case address
    /// New rows need each other's keys.
    case circle
    /// Another row already contains the values.
    case otherRow
    /// An undo was to restore the row.
    case restoration
    /// Requests and answers use all their memory.
    case memory
    /// A check of the rules, not of the database, failed.
    case rule
    /// A conflict, not an error, made the push fail.
    case rejection
}
