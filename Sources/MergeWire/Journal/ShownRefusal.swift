/// A refused push, which the journal keeps completely.
package struct ShownRefusal: Sendable {
    /// The path of the URL.
    package let address: String
    /// The code of the problem.
    package let reason: String
    /// The JSON of the client.
    package let body: [UInt8]
    /// The time of the successful resend in UTC, if any.
    package let replayed: String?
    /// The time when an operator dropped the push, and the operator; nil if none has.
    package let dropped: (at: String, by: String)?

    /// Creates a refused push.
    package init(
        address: String, reason: String, body: [UInt8], replayed: String?, dropped: (at: String, by: String)? = nil
    ) {
        self.dropped = dropped
        self.address = address
        self.reason = reason
        self.body = body
        self.replayed = replayed
    }
}
