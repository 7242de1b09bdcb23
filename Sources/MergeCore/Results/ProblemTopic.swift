/// An occasion on which a problem has another title, or another status, than its code has mostly.
package enum ProblemTopic: Sendable, Hashable {
    // MARK: Of `invalid`

    case query
    case limit
    case deviceName
    /// The key of an item names another record than the one it stands in.
    case contradictoryKey
    /// One push holds resources with transactions and without.
    case mixedResources

    // MARK: Of `readOnly`

    case section
    case field

    // MARK: Of other codes

    /// A resource that the address names, not the body.
    case address
    /// Rows that are created need each other's keys.
    case circle
    /// The values stand in another row already.
    case otherRow
    /// A row that an undo was to bring back.
    case restoration
    /// Requests and answers take all the memory there is for them.
    case memory
    /// A check of the rules, not of the database.
    case rule
    /// A conflict made the push fail, not an error.
    case rejection
}
