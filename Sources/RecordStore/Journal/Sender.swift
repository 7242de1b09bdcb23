/// The sender of a push.
package struct Sender: Sendable, Hashable {
    /// The token's name; empty if the gateway requires no token.
    package let who: String
    /// The client's name for its device; at most 255 characters.
    package let device: String?

    /// The sender of changes that bypass the gateway, in entries of `--keep-foreign`.
    package static let foreignProgram = Sender(who: "foreign program", device: nil)

    /// Names the sender of a push.
    package init(who: String, device: String?) {
        self.who = who
        self.device = device
    }
}
