/// Advice for the client: send the same push again or drop it.
package enum Retry: Sendable, Hashable {
    /// The client may drop the push.
    case never
    /// The push may succeed later; `after` is the advised wait in seconds.
    case later(RetryCause, after: Int? = nil)

    /// Returns true if the client keeps the push and sends it again.
    package var isLater: Bool { self != .never }

    /// Returns true if the cause ends without a change of the push.
    ///
    /// An unexpected error may not end.
    package var isPassing: Bool {
        switch self {
        case .never, .later(.unexpected, _): false
        case .later: true
        }
    }

    /// The seconds that the client should wait, or nil if the client decides.
    package var seconds: Int? {
        if case .later(_, let seconds) = self { seconds } else { nil }
    }
}

/// The only causes for which a push may succeed later (Protocol, “Status and retries”).
///
/// A failure without one of these causes is final, so a push that can never succeed cannot block a client's queue.
package enum RetryCause: Sendable, Hashable, CaseIterable {
    /// A lock or deadlock lasted.
    case lock
    /// The database cannot be reached, or the connection broke before COMMIT.
    case connection
    /// Too many requests, or too many bytes, are waiting.
    case overload
    case rate
    /// The client has filled its share of the journal for the day.
    case share
    /// The gateway starts, shuts down or is under maintenance.
    case notReady
    /// The database or the journal cannot be written for now.
    case unwritable
    /// The rules of the resource do not fit the schema for now.
    case outOfService
    case inProgress
    /// The connection broke during COMMIT, and the key could not be looked up.
    case unknownOutcome
    /// An earlier push of the same sync may succeed later.
    case notRun
    case oldClient
    /// An unexpected error, at most twice for one key.
    case unexpected
}
