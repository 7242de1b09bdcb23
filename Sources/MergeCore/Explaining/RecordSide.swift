/// One of the three records of a merge.
package enum RecordSide: String, Sendable, Hashable, CaseIterable {
    /// The record that the client last read.
    case base
    /// The record in the database.
    case current
    /// The record that the client wants.
    case edited
}
