/// The key of a request with its digests.
package struct RequestKey: Sendable, Hashable {
    /// The key as sent.
    package let text: String
    /// The SHA-256 of sender and key, under which the answer is stored.
    package let name: [UInt8]
    /// The SHA-256 of the address and the body's meaning.
    package let fingerprint: [UInt8]
}

extension RequestKey {
    /// Creates the key of an operation that a journal entry allows once, for all senders.
    ///
    /// - Parameters:
    ///   - effect: The operation, such as `undo:17`.
    ///   - body: The body of the request. Another body has another key.
    package init(effect: String, body: [UInt8]) {
        let digest = RequestFingerprint.digest(of: body)
        self.init(text: effect, name: RequestFingerprint.name(ofEffect: effect, digest), fingerprint: digest)
    }
}
