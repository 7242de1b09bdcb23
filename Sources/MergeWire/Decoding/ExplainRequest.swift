package import MergeCore

/// The body of `POST /v1/operations/explain`.
package struct ExplainRequest: Sendable {
    /// The name of the resource.
    package let resource: String
    /// The records as JSON; `null` for no record.
    package let records: Sided<[UInt8]>
    /// The names of the sections whose current rows are frozen.
    package let frozen: [String]
    /// The rule files; nil for those of the gateway.
    package let rules: RuleTexts?

    /// Reads a body.
    ///
    /// - Throws: a 400 `Problem` if the body is invalid.
    package init(_ body: [UInt8], maximumDepth: Int) throws(Problem) {
        let read: Result<ExplainRequest, Problem> = body.withUnsafeBytes { bytes in
            Result { () throws(Problem) in
                try JSONDocument.parse(bytes, maximumDepth: maximumDepth) { root throws(Problem) in try Self(root) }
            }
        }
        self = try read.get()
    }

    private init(_ root: JSONNode) throws(Problem) {
        let top = WirePath("")
        try root.checkObject(top, known: ["resource", "base", "current", "edited", "frozen", "files"])
        guard let resource = root["resource"]?.string else {
            throw Invalid.problem(top.member("resource"), "must be the name of a resource")
        }
        self.resource = resource
        func record(_ name: String) -> [UInt8] { Array((root[name]?.text ?? "null").utf8) }
        records = Sided(base: record("base"), current: record("current"), edited: record("edited"))
        let names = root["frozen"].map { ($0.isArray, $0.count, $0.elements.compactMap(\.string)) }
        if let names, !names.0 || names.1 != names.2.count {
            throw Invalid.problem(top.member("frozen"), "must be an array of names of sections")
        }
        frozen = names?.2 ?? []
        rules = try root["files"].map { node throws(Problem) in try RuleTexts(node, at: top.member("files")) }
    }
}
