/// The columns of an INSERT into the journal, besides those that every row has.
struct JournalColumns: OptionSet, Hashable {
    let rawValue: UInt8

    /// Of the device that sent the push.
    static let device = JournalColumns(rawValue: 1)
    /// Of the first row of a push, which keeps the answer to all of it.
    static let answer = JournalColumns(rawValue: 2)
    /// Of the first row of a push that was refused, which can be sent again.
    static let refused = JournalColumns(rawValue: 4)

    /// In the order of the values.
    var names: [String] {
        var names = ["who", "push_key", "resource", "record", "status", "outcomes", "rules", "entry"]
        if contains(.device) { names.append("device") }
        if contains(.answer) { names += ["name", "request", "code", "answer"] }
        if contains(.refused) { names += ["address", "body", "reason"] }
        return names
    }
}
