/// The last write of an entry of the journal to a group or a row.
package enum WriteTrace: Sendable, Hashable {
    /// These values of the group were written, in its order.
    case group([Value])
    /// Something was written of which the journal keeps no values that could be compared.
    case something
    /// The row was deleted.
    case deleted
}
