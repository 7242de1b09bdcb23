import FieldMergeClient
import Foundation

/// The histories of a gateway in memory.
struct MemoryHistories {
    /// The state that a restore returns to.
    struct Backup {
        let records: [MemoryPlace: JSONValue]
        let kept: [String: (push: JSONValue, answer: JSONValue)]
        let lastID: Int
    }

    var backup: Backup?
    private var history = 0
    private var began = 0.0
    private var historyOf: [JSONValue: Int] = ["feed-1": 0]

    mutating func beginHistory(at time: Double) {
        history += 1
        began = time
    }

    mutating func begin(feed: JSONValue) { historyOf[feed] = history }

    /// Returns the code of the refusal of a push whose key is unknown; nil if the push belongs to this history.
    func refusal(of push: JSONValue) -> String? {
        let isEarlier = historyOf[push["feed"]].map { $0 != history } ?? false
        let sent = push["sent"].stringValue.flatMap { try? Date($0, strategy: Self.moment) }
        guard isEarlier || (sent.map { $0.timeIntervalSince1970 < began } ?? false) else { return nil }
        return isEarlier && (push["edits"].arrayValue ?? []).contains(where: Self.hasBase)
            ? "history-changed" : "key-expired"
    }

    private static let moment = Date.ISO8601FormatStyle(includingFractionalSeconds: true)

    private static func hasBase(_ edit: JSONValue) -> Bool {
        let parts = edit["changeset"].objectValue?.values.flatMap { $0.arrayValue ?? [$0] } ?? []
        return edit["id"].temporaryID == nil || parts.contains { $0.objectValue?["old"] != .some(.null) }
    }
}
