package import MergeCore

/// An entry of the journal as it is shown.
package struct ShownEntry: Sendable {
    let number: Int
    let at: DateTime
    let who: String
    let device: String?
    let key: String?
    let edit: ShownEdit?
    let refused: ShownRefusal?

    /// Shows an entry.
    ///
    /// - Parameters:
    ///   - number: of the entry, counted from 1.
    ///   - at: the moment of the merge, in UTC.
    ///   - who: the sender's name; empty where nobody needs a token.
    ///   - device: the name that the client gave its device.
    ///   - key: of the push; nil where it had none.
    ///   - edit: what became of a record; nil where the entry is only a push that was refused.
    ///   - refused: the push, where it was refused.
    package init(
        number: Int, at: DateTime, who: String, device: String?, key: String?, edit: ShownEdit?,
        refused: ShownRefusal?
    ) {
        self.number = number
        self.at = at
        self.who = who
        self.device = device
        self.key = key
        self.edit = edit
        self.refused = refused
    }
}
