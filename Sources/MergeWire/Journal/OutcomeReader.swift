import MergeCore

/// Reads journal entries and answers to pushes as text.
package enum OutcomeReader {
    /// Reads the JSON of an entry.
    package static func entry(_ content: [UInt8]) -> ResultText {
        parse(content) { result($0) }
            ?? ResultText(resource: nil, id: nil, status: nil, outcomes: [], problem: nil, code: nil, request: nil)
    }

    /// Returns the results in the answer to a push, a merge or an undo.
    package static func answer(_ body: [UInt8]) -> [ResultText] {
        parse(body) { root in root["results"].map { $0.elements.map(result) } ?? [result(root)] } ?? []
    }

    /// Returns the positions of the merged edits in the answer to a push.
    package static func merged(_ body: [UInt8]) -> Set<Int> {
        let results = answer(body)
        return Set(results.indices.filter { results[$0].status == "merged" })
    }

    /// Returns true if an entry names a group, or a whole row of its section.
    ///
    /// - Parameter group: nil for the section as a whole.
    package static func names(_ section: String, group: String?, in entry: [UInt8]) -> Bool {
        self.entry(entry).outcomes.contains { outcome in
            outcome.section.isExactly(section)
                && (group == nil || outcome.group == nil || outcome.group?.isExactly(group ?? "") == true)
        }
    }

    /// Returns true if an outcome of an entry is a conflict.
    package static func hasConflict(in entry: [UInt8]) -> Bool {
        parse(entry) { root in
            root["outcomes"]?.elements.contains { $0["conflict"] != nil } ?? false
        } ?? false
    }

    private static func parse<Answer>(_ bytes: [UInt8], _ body: (JSONNode) -> Answer) -> Answer? {
        JSONDocument.stored(bytes) { root in body(root) }
    }

    private static func result(_ node: JSONNode) -> ResultText {
        ResultText(
            resource: node["resource"]?.string, id: node["id"].flatMap(plain), status: node["status"]?.string,
            outcomes: (node["outcomes"]?.elements ?? []).map(outcome), problem: node["problem"]?["detail"]?.string,
            code: node["problem"]?["code"]?.string, path: node["problem"]?["path"]?.string,
            constraint: node["problem"]?["constraint"]?.string, rule: node["problem"]?["rule"]?.string,
            request: node["request"]?.string)
    }

    private static let known = [
        "section", "id", "group", "outcome", "rule", "conflict", "old", "oldHash", "current", "new", "written",
    ]

    static func outcome(_ node: JSONNode) -> OutcomeText {
        OutcomeText(
            section: node["section"]?.string ?? "", item: node["id"].flatMap(plain), group: node["group"]?.string,
            outcome: node["outcome"]?.string ?? "", rule: node["rule"]?.string ?? "",
            isConflict: node["conflict"] != nil, old: (node["old"] ?? node["oldHash"])?.text,
            current: node["current"]?.text, new: node["new"]?.text, written: node["written"]?.text,
            more: node.members.filter { !known.containsExactly($0.name.string) }.map {
                ($0.name.string, $0.value.string ?? $0.value.text)
            })
    }

    /// Returns a key without the quotes of a string.
    private static func plain(_ node: JSONNode) -> String? { node.isNull ? nil : node.string ?? node.text }
}
