/// The status of a store.
public struct Status: Sendable, Hashable {
    /// The phase of its sync.
    public var phase: SyncPhase
    /// The edits of records that have no answer yet.
    public var unsent: Int
    /// The refused edits.
    public var refused: Int
    /// The progress of a snapshot; nil if none is in progress.
    public var progress: Progress?
    /// The time of the last complete sync, in seconds since 1970; nil before the first.
    public var lastSynced: Double?
    /// The time of the next try, in seconds since 1970; nil if none is planned.
    public var nextTry: Double?
    /// The revision up to which the store has all changes; nil before the first sync.
    public var revision: Int?
    /// The gateway's message to users of a version that is too old.
    public var message: String?
    /// The address that it sends them to.
    public var link: String?
    /// The last error.
    public var error: String?
    /// The problem document of that, where there was one.
    public var problem: JSONValue?

    /// The progress of a snapshot.
    public struct Progress: Sendable, Hashable {
        /// The records that are stored.
        public let done: Int
        /// The number of all records, by the gateway's estimate; nil if there is none.
        public let total: Int?
    }
}

/// The report of a sync.
public struct SyncReport: Sendable, Hashable {
    /// The phase in which it ended.
    public var phase: SyncPhase = .idle
    /// The pushes that were merged.
    public var merged = 0
    /// The pushes that were refused.
    public var refused = 0
    /// The conflicts in them.
    public var conflicts = 0
    /// The records that were read.
    public var changes = 0
    /// The edits that have no answer yet.
    public var unsent = 0
    /// The reason if it did not end `idle`.
    public var error: String?
    /// The problem document of that, where there was one.
    public var problem: JSONValue?

    /// Adds the report of another part of the sync.
    mutating func add(_ other: SyncReport) {
        merged += other.merged
        refused += other.refused
        conflicts += other.conflicts
        changes += other.changes
        error = error ?? other.error
        problem = other.problem ?? problem
    }

    /// True if everything was sent, nothing refused, and everything read.
    public var isOK: Bool { phase == .idle && unsent == 0 && refused == 0 && error == nil }
}

/// The fate of edits that were not sent when a user signs out.
public enum UnsentPolicy: String, Sendable, Hashable {
    /// `signOut` throws because of them.
    case refuse
    /// They are sent first; after a failure, `signOut` throws.
    case send
    /// They are discarded.
    case discard
}
