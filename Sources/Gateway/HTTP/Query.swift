import MergeCore
import MergeWire

/// The query of a request: members that its address knows, each of them once.
struct Query: Sendable {
    private var members: [(name: String, value: Substring)] = []

    /// No query at all.
    init() {}

    /// - Parameter known: the members that the address knows.
    /// - Throws: a 400 `Problem` that names a member that is unknown or stands twice.
    init(_ text: String, known: [String]) throws(Problem) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let raw = parts[0].utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
            members.append((KeyText.percentDecoded(raw) ?? String(parts[0]), parts.count > 1 ? parts[1] : ""))
        }
        for (name, _) in members where !known.contains(name) {
            throw Problem(
                .unknownQuery,
                detail: "“\(name)” is no member of this address's query"
                    + (known.isEmpty ? ", which has none." : NearestName.ending(for: name, among: known)))
        }
        for (index, member) in members.enumerated() where members[..<index].contains(where: { $0.name == member.name })
        {
            throw Problem(.duplicateQuery, detail: "“\(member.name)” stands more than once in the query.")
        }
    }

    /// The value of a member as it stands in the URL, not decoded; nil where it is missing.
    subscript(name: String) -> Substring? { members.first { $0.name == name }?.value }

    /// A member that is true or false; false where it is missing.
    ///
    /// - Throws: a 400 `Problem` where it is anything else.
    func flag(_ name: String) throws(Problem) -> Bool {
        switch self[name] {
        case nil, "false": return false
        case "true": return true
        default:
            throw Problem(.invalid, about: .query, detail: "“\(name)” is true or false; nothing was done.")
        }
    }
}
