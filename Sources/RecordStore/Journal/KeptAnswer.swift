package import MergeCore

/// The answer that is kept under a push's key.
package struct KeptAnswer: Sendable, Hashable {
    /// SHA-256 of the address and the body's meaning; nil where the answer is kept for a replay and not for a key.
    package let request: [UInt8]?
    /// The status of the push.
    package let status: PushStatus
    /// The body as it was sent.
    package let body: [UInt8]

    /// Keeps an answer.
    package init(request: [UInt8]?, status: PushStatus, body: [UInt8]) {
        self.request = request
        self.status = status
        self.body = body
    }
}
