import MergeCore

/// Names a row of the database, whichever resource shows it.
///
/// Two resources may stand over one table, and the list of one record may be the root of another; so a row is told from
/// others by its table and its key, never by a resource.
struct RowReference: Hashable, Sendable {
    /// The name by which `Footprint` tells tables apart.
    let table: String
    /// Empty where only the table as a whole can be named.
    let key: RecordKey

    /// Hashes the key alone: tables are few and keys are many.
    func hash(into hasher: inout Hasher) { hasher.combine(key) }
}
