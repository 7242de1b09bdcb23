package import MergeCore

/// The body of `POST /v1/operations/rehearse`.
package struct RehearseRequest: Sendable {
    /// The new rule files.
    package let rules: RuleTexts
    /// The only resource; nil for all.
    package let resource: String?
    /// The time of the oldest entry, such as `30d` or `2026-11-20`; nil for all.
    package let since: String?

    /// Reads a body.
    ///
    /// - Throws: a 400 `Problem` if the body is invalid.
    package init(_ body: [UInt8]) throws(Problem) {
        let read: Result<RehearseRequest, Problem> = body.withUnsafeBytes { bytes in
            Result { () throws(Problem) in
                try JSONDocument.parse(bytes, maximumDepth: 4) { root throws(Problem) in try Self(root) }
            }
        }
        self = try read.get()
    }

    private init(_ root: JSONNode) throws(Problem) {
        let top = WirePath("")
        try root.checkObject(top, known: ["files", "resource", "since"])
        guard let files = root["files"] else { throw Invalid.problem(top.member("files"), "is missing") }
        rules = try RuleTexts(files, at: top.member("files"))
        resource = try Self.text("resource", of: root)
        since = try Self.text("since", of: root)
    }

    private static func text(_ name: String, of root: JSONNode) throws(Problem) -> String? {
        guard let node = root[name], !node.isNull else { return nil }
        guard let text = node.string else { throw Invalid.problem(WirePath("").member(name), "must be a text") }
        return text
    }
}
