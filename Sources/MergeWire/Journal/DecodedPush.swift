package import MergeCore

/// A decoded body: first its key, which may already have an answer, then the push.
package final class DecodedPush: Sendable {
    /// The key of the push, if it has one.
    package let key: RequestKey?
    /// The history and the time for which the client built the push.
    package let origin: PushOrigin
    /// The push, or the reason why it is invalid.
    package let push: Result<Push, Problem>

    init(key: RequestKey?, origin: PushOrigin, push: Result<Push, Problem>) {
        self.key = key
        self.origin = origin
        self.push = push
    }
}
