/// A handle on an edit.
///
/// `store.ticket(…)` finds it again after a restart, by its `token` or its record's id.
public struct Ticket: Sendable {
    /// The name under which the edit is found again.
    public let token: String
    /// The id of the record (of several the first), temporary until the gateway has given one; a temporary id stays good
    /// for reading and editing.
    public let id: JSONValue
    let store: FieldMergeStore

    /// The outcome of the edit; waits until that is known.
    ///
    /// Somebody has to sync meanwhile: `start()`, or `sync()` elsewhere. Where the store is closed or the waiting task
    /// cancelled before, the status is `unknown`.
    public var outcome: Outcome {
        get async {
            let bell = store.bells.subscribe(to: .outcomes)
            var iterator = bell.makeAsyncIterator()
            while true {
                if let outcome = await outcomeSoFar { return outcome }
                guard await iterator.next() != nil, !Task.isCancelled else {
                    return await outcomeSoFar ?? Outcome(status: .unknown, conflicts: [], problem: nil, record: nil)
                }
            }
        }
    }

    /// The outcome of the edit; nil if nothing has yet.
    public var outcomeSoFar: Outcome? {
        get async { await store.outcome(of: token) }
    }
}

/// The outcome of an edit.
public struct Outcome: Sendable {
    /// The fate of the edit.
    public let status: OutcomeStatus
    /// The places where it met another edit.
    public let conflicts: [Conflict]
    /// The reason of a refusal.
    public let problem: JSONValue?
    /// The record in the answer; nil if there is none.
    public let record: Record?
}

/// The fate of an edit.
public enum OutcomeStatus: String, Sendable, Hashable {
    /// The server has it, with or without conflicts; also an edit that cancelled itself before it was sent.
    case merged
    /// The server refused it; it is one of `refusedEdits()`.
    case refused
    /// The app gave it up.
    case discarded
    /// Nothing was known of it when the store was closed, or the waiting task cancelled.
    case unknown
}
