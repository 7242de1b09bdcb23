/// The optional columns of an INSERT into the journal.
struct JournalColumns: OptionSet, Hashable {
    let rawValue: UInt8

    /// The device that sent the push.
    static let device = JournalColumns(rawValue: 1)
    /// The answer to the whole push, in its first row.
    static let answer = JournalColumns(rawValue: 2)
    /// The refused push for a resend, in its first row.
    static let refused = JournalColumns(rawValue: 4)

    /// The names in the order of the values.
    var names: [String] {
        var names = ["who", "push_key", "resource", "record", "status", "outcomes", "rules", "entry"]
        if contains(.device) { names.append("device") }
        if contains(.answer) { names += ["name", "request", "code", "answer"] }
        if contains(.refused) { names += ["address", "body", "reason"] }
        return names
    }
}
