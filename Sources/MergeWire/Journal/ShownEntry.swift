package import MergeCore

/// A journal entry in the form for readers.
package struct ShownEntry: Sendable {
    let number: Int
    let at: DateTime
    let who: String
    let device: String?
    let key: String?
    let edit: ShownEdit?
    let bareEntry: [UInt8]?
    let refused: ShownRefusal?

    /// Creates an entry.
    ///
    /// - Parameters:
    ///   - at: The time of the merge, in UTC.
    ///   - who: The sender's name; empty if the gateway requires no tokens.
    ///   - edit: The edit of a record, or nil if the entry is only a refused push.
    ///   - bareEntry: A JSON object with the id of the request, if the entry is only a refused push.
    ///   - refused: The push, if it was refused.
    package init(
        number: Int, at: DateTime, who: String, device: String?, key: String?, edit: ShownEdit?,
        bareEntry: [UInt8]?, refused: ShownRefusal?
    ) {
        self.number = number
        self.at = at
        self.who = who
        self.device = device
        self.key = key
        self.edit = edit
        self.bareEntry = bareEntry
        self.refused = refused
    }
}
