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
    /// Returns the name of a stored answer under a sender's key.
    package static func name(of key: String, owner: String) -> [UInt8] {
        RequestFingerprint.name(of: key, sender: owner)
    }

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
