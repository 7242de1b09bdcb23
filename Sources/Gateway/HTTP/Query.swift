import MergeCore
import MergeWire

/// The query of a request.
///
/// Each supported member may occur once.
struct Query: Sendable {
    private var members: [(name: String, value: Substring)] = []

    init() {}

    /// - Parameter known: the supported members.
    /// - Throws: a 400 `Problem` for an unknown or repeated member.
    init(_ text: String, known: [String]) throws(Problem) {
        var unknown: [String] = []
        // More members than supported already prove a fault.
        for pair in text.utf8.split(separator: UInt8(ascii: "&"), maxSplits: known.count + 1) {
            let end = pair.firstIndex(of: UInt8(ascii: "="))
            let raw = pair[..<(end ?? pair.endIndex)]
            let value = end.map { Substring(pair[pair.index(after: $0)...]) } ?? ""
            // Most names are not encoded.
            if let name = known.first(where: { $0.utf8.count == raw.count && $0.utf8.elementsEqual(raw) }) {
                members.append((name, value))
                continue
            }
            let spaced = raw.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
            let name = KeyText.percentDecoded(spaced) ?? String(Substring(raw))
            members.append((name, value))
            if !known.containsExactly(name) { unknown.append(name) }
        }
        if let name = unknown.first {
            let shown = name.utf8.count > NameIndex.maximumBytes ? "A long name" : "“\(name)”"
            throw Problem(
                .unknownQuery,
                detail: "\(shown) is not a member of this address's query"
                    + (known.isEmpty ? ", which has none." : NearestName.ending(for: name, among: known)))
        }
        for (index, member) in members.enumerated()
        where members[..<index].contains(where: { $0.name.isExactly(member.name) }) {
            throw Problem(.duplicateQuery, detail: "“\(member.name)” appears more than once in the query.")
        }
    }

    /// The undecoded value of a member, or nil.
    subscript(name: String) -> Substring? { members.first { $0.name.isExactly(name) }?.value }

    /// Returns a member as text, or nil.
    ///
    /// - Throws: a 400 `Problem` if its percent-encoding is wrong.
    func text(_ name: String) throws(Problem) -> String? {
        guard let raw = self[name] else { return nil }
        guard let text = KeyText.percentDecoded(raw.utf8) else {
            throw Problem(.invalid, about: .query, detail: "The percent-encoding of “\(name)” is wrong.")
        }
        return text
    }

    /// Returns a member as text, or nil; a plus sign is a space, as in forms (WHATWG URL, section 5.1).
    ///
    /// - Throws: a 400 `Problem` if its percent-encoding is wrong.
    func formText(_ name: String) throws(Problem) -> String? {
        guard let raw = self[name] else { return nil }
        let spaced = raw.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        guard let text = KeyText.percentDecoded(spaced) else {
            throw Problem(.invalid, about: .query, detail: "The percent-encoding of “\(name)” is wrong.")
        }
        return text
    }

    /// Returns a Boolean member; false if it is missing.
    ///
    /// - Throws: a 400 `Problem` for other values.
    func flag(_ name: String) throws(Problem) -> Bool {
        guard let value = try text(name) else { return false }
        guard ["true", "false"].containsExactly(value) else {
            throw Problem(.invalid, about: .query, detail: "“\(name)” must be true or false. Nothing was written.")
        }
        return value.isExactly("true")
    }
}
