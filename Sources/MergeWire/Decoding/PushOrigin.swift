import MergeCore

/// The history and the time for which a client built a push.
package struct PushOrigin: Sendable, Hashable {
    /// The feed of the client's copy, if sent.
    package let feed: String?
    /// The time of the first sending in microseconds since 1970, if sent.
    package let sent: Int?
    /// True if `feed` is set and the push contains an `old`, an `oldHash` or an id that is not temporary.
    package let hasBase: Bool

    /// Reads the origin of a push, which by default has the feed of its sync.
    ///
    /// - Throws: a 400 `Problem` if `feed` is not a string or `sent` is not a time in UTC.
    init(_ root: JSONNode, edits: [JSONNode], syncFeed: String?) throws(Problem) {
        let top = WirePath("")
        if let node = root["feed"], node.string == nil { throw Invalid.problem(top.member("feed"), "must be a string") }
        feed = root["feed"]?.string ?? syncFeed
        if let node = root["sent"] {
            guard let sent = node.string.flatMap({ Self.moment($0) }) else {
                throw Invalid.problem(top.member("sent"), "must be a time in UTC, such as 2026-11-20T10:00:00Z")
            }
            self.sent = sent
        } else {
            sent = nil
        }
        // Only a push with a feed is compared with the history.
        hasBase = feed != nil && edits.contains { Self.hasBase($0) }
    }

    /// Reads an RFC 3339 time with an offset of zero.
    private static func moment(_ text: String) -> Int? {
        var reader = TimeReader(text.uppercased())
        guard let (moment, _) = reader.dateTime(), reader.offset() == 0, reader.isAtEnd, !moment.date.isIncomplete
        else { return nil }
        return moment.microsecondsSince1970
    }

    private static func hasBase(_ edit: JSONNode) -> Bool {
        if let id = edit["id"], !isTemporary(id) { return true }
        return (edit["changeset"]?.members ?? []).contains { _, section in
            section.isArray ? section.elements.contains { hasBase(row: $0) } : hasBase(row: section)
        }
    }

    private static func hasBase(row: JSONNode) -> Bool {
        if let id = row["id"], !isTemporary(id) { return true }
        if row["oldHash"] != nil { return true }
        if let old = row["old"] { return !old.isNull }
        // Here the members are groups.
        return row.members.contains { _, group in
            group["oldHash"] != nil || group["old"].map { !$0.isNull } ?? false
        }
    }

    private static func isTemporary(_ id: JSONNode) -> Bool {
        if id.isArray { return id.elements.contains { isTemporary($0) } }
        return id.isNull || CreatedIDs.temporary(id.scalar, isGenerated: true) != nil
    }
}
