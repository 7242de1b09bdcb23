/// The way in which the gateway numbers the last key column of new rows.
enum KeyNumbering: String, Sendable, Hashable, CaseIterable {
    case next
}
