/// The id of a row in a reply.
package enum RowLabel: Sendable, Hashable {
    case key(RecordKey)
    case temporary(TemporaryID)
}
