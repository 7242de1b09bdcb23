/// The phase of a store's sync.
public enum SyncPhase: String, Sendable, Hashable, CaseIterable {
    /// Nothing is due.
    case idle
    /// Changes are being read.
    case pulling
    /// Edits are being sent.
    case pushing
    /// Something went wrong that time may mend; `Status.nextTry` says until when.
    case waiting
    /// The device has no network.
    case offline
    /// The token was refused, also one that was asked for anew.
    case needsAuth
    /// The gateway requires a newer version of the app.
    case needsUpgrade
    /// The store was closed, or signed out of.
    case closed
}
