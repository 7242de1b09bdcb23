/// The status of a push or of one of its edits.
package enum PushStatus: String, Sendable, Hashable {
    case merged
    case rejected
    case failed
    case partial
}
