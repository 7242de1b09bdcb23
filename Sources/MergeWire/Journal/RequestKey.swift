/// The key of a request and the digests that stand for it.
package struct RequestKey: Sendable, Hashable {
    /// The key as it was sent.
    package let text: String
    /// SHA-256 of the sender and the key, under which the answer is kept.
    package let name: [UInt8]
    /// SHA-256 of the address and the body's meaning.
    package let fingerprint: [UInt8]
}

extension RequestKey {
    /// Makes the key of something that is done once to an entry of the journal, whoever does it.
    ///
    /// - Parameters:
    ///   - effect: such as `undo:17`.
    ///   - body: what it is asked with; another body is another key.
    package init(effect: String, body: [UInt8]) {
        let digest = RequestFingerprint.digest(of: body)
        self.init(text: effect, name: RequestFingerprint.name(ofEffect: effect, digest), fingerprint: digest)
    }
}
