package import MergeCore

/// An entry of the journal as it is shown.
package struct ShownEntry: Sendable {
    package let number: Int
    package let at: DateTime
    package let who: String
    package let device: String?
    package let key: String?
    /// nil where the entry is only a push that was refused.
    package let resource: String?
    package let status: String?
    package let rules: String?
    /// The record's key, its new ids and the outcomes: the members of a JSON object, in its braces.
    package let content: [UInt8]?
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
