/// One of the three records that meet in a merge.
package enum RecordSide: String, Sendable, Hashable, CaseIterable {
    /// The record that the client last read.
    case base
    /// The record that the database holds.
    case current
    /// The record that the client wants.
    case edited
}
