/// A handle on an edit.
///
/// `store.ticket(…)` finds it again after a restart, by its `token` or its record's id.
public struct Ticket: Sendable {
    /// The name under which the edit is found again.
    public let token: String
    /// The id of the record (of several the first), temporary until the gateway has assigned one; a temporary id remains
    /// valid for reads and edits.
    public let id: JSONValue
    let store: FieldMergeStore

    /// Waits for the outcome of the edit.
    ///
    /// The store has to sync meanwhile: by `start()`, or `sync()` in another task. If the store is closed or the waiting task
    /// is cancelled before, the status is `unknown`.
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

    /// The outcome of the edit; nil if there is none yet.
    public var outcomeSoFar: Outcome? {
        get async { await store.outcome(of: token) }
    }
}

/// The outcome of an edit.
public struct Outcome: Sendable {
    /// The fate of the edit.
    public let status: OutcomeStatus
    /// The conflicts with other edits.
    public let conflicts: [Conflict]
    /// The reason of a refusal.
    public let problem: JSONValue?
    /// The record in the answer; nil if there is none.
    public let record: Record?
}

/// The fate of an edit.
public enum OutcomeStatus: String, Sendable, Hashable {
    /// The server merged the edit, with or without conflicts; also an edit that cancelled out before it was sent.
    case merged
    /// The server refused the edit, which is in `refusedEdits()`.
    case refused
    /// The app discarded the edit.
    case discarded
    /// There was no outcome when the store was closed or the waiting task was cancelled.
    case unknown
}
