package import MergeCore

/// An entry of the journal as it is shown.
package struct ShownEntry: Sendable {
    /// The number of the entry, counted from 1.
    package let number: Int
    /// The moment of the merge, in UTC.
    package let at: DateTime
    /// The sender's name; empty where nobody needs a token.
    package let who: String
    /// The name that the client gave its device.
    package let device: String?
    /// The key of the push; nil where it had none.
    package let key: String?
    /// nil where the entry is only a push that was refused.
    package let resource: String?
    /// The status of the edit; nil where the entry is only a push that was refused.
    package let status: String?
    /// The version of the rules; nil where the entry is only a push that was refused.
    package let rules: String?
    /// The record's key, its new ids and the outcomes: the members of a JSON object, in its braces.
    package let content: [UInt8]?
    /// The push, where it was refused; nil where it was not.
    package let refused: ShownRefusal?

    package init(
        number: Int, at: DateTime, who: String, device: String?, key: String?, resource: String?, status: String?,
        rules: String?, content: [UInt8]?, refused: ShownRefusal?
    ) {
        self.number = number
        self.at = at
        self.who = who
        self.device = device
        self.key = key
        self.resource = resource
        self.status = status
        self.rules = rules
        self.content = content
        self.refused = refused
    }
}
