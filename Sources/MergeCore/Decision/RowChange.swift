/// A change of a row of a table.
package enum RowChange: Sendable, Hashable {
    case none
    case insert([Assignment])
    case update([Assignment])
    case delete
}
