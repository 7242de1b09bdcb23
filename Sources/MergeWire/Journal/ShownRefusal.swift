/// A push that was refused and is kept whole.
package struct ShownRefusal: Sendable {
    package let address: String
    package let reason: String
    /// JSON as the client sent it.
    package let body: [UInt8]
    /// When it was sent again with success, in UTC; nil where it was not.
    package let replayed: String?

    package init(address: String, reason: String, body: [UInt8], replayed: String?) {
        self.address = address
        self.reason = reason
        self.body = body
        self.replayed = replayed
    }
}
