package import MergeCore

/// The body of `POST /v1/journal/{n}/undo`.
package struct UndoRequest: Sendable {
    /// The groups to undo as `section.group`, or nil for all.
    package let groups: Set<ExactText>?
    /// True if values that have changed since the entry are undone too.
    package let isForced: Bool

    /// Creates a request.
    package init(groups: Set<ExactText>? = nil, isForced: Bool = false) {
        self.groups = groups
        self.isForced = isForced
    }

    /// The JSON body of the request.
    package var body: [UInt8] {
        var writer = JSONWriter(capacity: 64)
        writer.object { writer in
            if let groups {
                writer.member("groups")
                writer.array { writer in
                    for group in groups.sorted() { writer.string(group.string) }
                }
            }
            if isForced {
                writer.member("force")
                writer.flag(true)
            }
        }
        return writer.bytes
    }

    /// Reads a body; an empty one undoes everything that is left of the entry.
    ///
    /// - Throws: a 400 `Problem` if the body is invalid.
    package init(_ body: [UInt8]) throws(Problem) {
        if body.isEmpty {
            self.init()
            return
        }
        let read: Result<UndoRequest, Problem> = body.withUnsafeBytes { bytes in
            do throws(Problem) {
                return .success(
                    try JSONDocument.parse(bytes, maximumDepth: 8) { root throws(Problem) in try Self(root) })
            } catch {
                return .failure(error)
            }
        }
        self = try read.get()
    }

    private init(_ root: JSONNode) throws(Problem) {
        let top = WirePath("")
        try root.checkObject(top, known: ["groups", "force"])
        groups = try Self.groups(root["groups"], at: top)
        switch root["force"]?.scalar {
        case nil: isForced = false
        case .boolean(let flag)?: isForced = flag
        default: throw Invalid.problem(top.member("force"), "must be true or false")
        }
    }

    private static func groups(_ node: JSONNode?, at top: WirePath) throws(Problem) -> Set<ExactText>? {
        guard let node else { return nil }
        let names = node.elements.compactMap(\.string)
        guard node.isArray, names.count == node.count, !names.isEmpty else {
            throw Invalid.problem(top.member("groups"), "must be an array of names such as “customer.address”")
        }
        return Set(names.map { ExactText($0) })
    }
}
