/// The sender of a push.
package struct Sender: Sendable, Hashable {
    /// The token's name; empty where the gateway asks for none.
    package let who: String
    /// The name that the client gives its device; at most 255 characters.
    package let device: String?

    /// Names the sender of a push.
    package init(who: String, device: String?) {
        self.who = who
        self.device = device
    }
}
