/// The phase of a store's sync.
public enum SyncPhase: String, Sendable, Hashable, CaseIterable {
    /// Nothing is due.
    case idle
    /// Changes are being read.
    case pulling
    /// Edits are being sent.
    case pushing
    /// A failure that may be temporary; `Status.nextTry` is the time of the next try.
    case waiting
    /// The device has no network.
    case offline
    /// The token was refused, and a new token too.
    case needsAuth
    /// The gateway requires a newer version of the app.
    case needsUpgrade
    /// The store was closed, or signed out of.
    case closed
}
