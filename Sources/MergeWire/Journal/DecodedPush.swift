package import MergeCore

/// A body as far as it is read: its key first, which may be known already, and then what it wants.
package final class DecodedPush: Sendable {
    /// nil where the push has no key.
    package let key: RequestKey?
    /// The history and the time for which the client built the push.
    package let origin: PushOrigin
    /// The push, or what is wrong with it.
    package let push: Result<Push, Problem>

    init(key: RequestKey?, origin: PushOrigin, push: Result<Push, Problem>) {
        self.key = key
        self.origin = origin
        self.push = push
    }
}
