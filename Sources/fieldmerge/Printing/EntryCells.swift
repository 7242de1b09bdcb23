import MergeCore
import MergeWire
import RecordStore

struct EntryCells {
    let number: String
    /// In UTC, to the second.
    let time: String
    let who: String
    let device: String
    let key: String
    /// The resource and the record's key; empty for a push that changed no record.
    let record: String
    let status: String
    /// The reason for which the edit was refused; empty for a merged edit.
    let problem: String
    /// The path of the fault in the push; empty without one.
    let path: String
    /// The constraint of the database or the check of the rules that was violated; empty without one.
    let constraint: String
    /// The line of the rule that refused the push; empty without one.
    let rule: String
    /// The time and the author of an erasure; empty if the entry was not erased.
    let erased: String
    /// The id of the request; empty if no HTTP request sent the push.
    let request: String
    let outcomes: [OutcomeText]

    init(_ entry: StoredEntry) {
        number = String(entry.number)
        time = entry.at.text(separator: "T", fraction: 0) + "Z"
        who = PlainText.visible(entry.sender.who)
        device = PlainText.visible(entry.sender.device ?? "")
        key = PlainText.visible(entry.key ?? "")
        record = entry.entry.map { $0.resource + "/" + $0.record } ?? ""
        let reason = entry.refused.map { "push refused (\($0.reason))" }
        let content = OutcomeReader.entry(entry.entry.map { EntryView.shown($0.body) } ?? entry.bareEntry ?? [])
        let own = entry.entry.map { $0.status + (content.code.map { " (\($0))" } ?? "") }
        problem = PlainText.visible(content.problem ?? "")
        path = PlainText.visible(content.path ?? "")
        constraint = PlainText.visible(content.constraint ?? "")
        rule = PlainText.visible(content.rule ?? "")
        erased = PlainText.visible(entry.entry.flatMap { ErasureMark.sentence(in: $0.body) } ?? "")
        status = [own, reason, erased.isEmpty ? nil : "erased"].compactMap(\.self).joined(separator: ", ")
        request = PlainText.visible(content.request ?? "")
        outcomes = content.outcomes
    }
}

extension OutcomeText {
    /// The place as `section.group [item]`.
    var place: String {
        section + (group.map { "." + $0 } ?? "") + (item.map { " [" + PlainText.visible($0) + "]" } ?? "")
    }

    /// The values old, current, new and written as JSON; empty if unknown.
    var sides: [String] { [old, current, new, written].map { PlainText.visible($0 ?? "") } }
}
