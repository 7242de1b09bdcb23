package import MergeCore

/// A push of a sync, with the names that decide which later pushes wait for it.
package struct SyncedPush: Sendable {
    /// The names, which also an invalid push has.
    package let names: PushNames
    /// The push, or the reason why its envelope or key is invalid.
    package let decoded: Result<DecodedPush, Problem>
}
