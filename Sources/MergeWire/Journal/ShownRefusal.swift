/// A push that was refused and is kept whole.
package struct ShownRefusal: Sendable {
    /// The path of the URL that it was sent to.
    package let address: String
    /// The code of the problem.
    package let reason: String
    /// JSON as the client sent it.
    package let body: [UInt8]
    /// The time at which it was sent again with success, in UTC; nil where it was not.
    package let replayed: String?

    /// Shows a refused push.
    package init(address: String, reason: String, body: [UInt8], replayed: String?) {
        self.address = address
        self.reason = reason
        self.body = body
        self.replayed = replayed
    }
}
