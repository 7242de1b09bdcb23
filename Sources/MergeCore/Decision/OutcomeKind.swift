/// The outcome of a group or a row (Protocol.md, section 4).
package enum OutcomeKind: String, Sendable, Hashable, CaseIterable {
    case unchanged
    case already
    case applied
    case clientWon = "client-won"
    case serverWon = "server-won"
    case combined
    case rejected
    case inserted
    case deleted
    case kept
    case missing
    case restored
}
