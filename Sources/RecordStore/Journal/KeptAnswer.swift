package import MergeCore

/// The stored answer under a push's key.
package struct KeptAnswer: Sendable, Hashable {
    /// SHA-256 of the address and the decoded body; nil if the answer is kept for a resend and has no key.
    package let request: [UInt8]?
    /// The status of the push.
    package let status: PushStatus
    /// The kind of its failure.
    package let failure: FailureKind
    /// The body as it was sent.
    package let body: [UInt8]
    /// The digest of the client's access at that time; nil without access rules.
    package let access: [UInt8]?

    /// Bundles an answer.
    package init(
        request: [UInt8]?, status: PushStatus, failure: FailureKind = .other, body: [UInt8], access: [UInt8]? = nil
    ) {
        self.failure = failure
        self.access = access
        self.request = request
        self.status = status
        self.body = body
    }
}

extension KeptAnswer {
    var storedCode: Int { failure.storedCode ?? status.storedCode }
}

// The digest follows the body after a line break. No answer contains a line break, since JSON escapes it.
extension KeptAnswer {
    private static let mark = UInt8(ascii: "\n")

    /// The body with the digest, as the journal stores it.
    package var storedBody: [UInt8] {
        guard let access else { return body }
        return body + [Self.mark] + Array(Hex.encode(access).utf8)
    }

    /// Splits the stored bytes into the body and the digest.
    package static func split(_ stored: [UInt8]) -> (body: [UInt8], access: [UInt8]?) {
        guard let end = stored.lastIndex(of: mark),
            let access = Hex.decode(String(decoding: stored[(end + 1)...], as: UTF8.self))
        else { return (stored, nil) }
        return (Array(stored[..<end]), access)
    }
}
