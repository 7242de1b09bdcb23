/// A complete refused push, which can be sent again.
package struct RefusedBody: Sendable, Hashable {
    /// The path of the URL.
    package let address: String
    /// The body as the client sent it.
    package let body: [UInt8]
    /// The code of the problem.
    package let reason: String

    /// Bundles a refused push.
    package init(address: String, body: [UInt8], reason: String) {
        self.address = address
        self.body = body
        self.reason = reason
    }
}
