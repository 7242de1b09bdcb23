package import MergeCore

/// The body of `POST /v1/journal/{n}/undo`.
package enum UndoRequest {
    /// Returns the body of a request to undo some groups (`section.group`), or all if nil.
    package static func body(_ groups: Set<ExactText>?) -> [UInt8] {
        var writer = JSONWriter(capacity: 64)
        writer.object { writer in
            guard let groups else { return }
            writer.member("groups")
            writer.array { writer in
                for group in groups.sorted() { writer.string(group.string) }
            }
        }
        return writer.bytes
    }

    /// Reads the groups to undo (`section.group`), or nil for all.
    ///
    /// - Throws: a 400 `Problem` if the body is invalid.
    package static func groups(_ body: [UInt8]) throws(Problem) -> Set<ExactText>? {
        if body.isEmpty { return nil }
        let read: Result<Set<ExactText>?, Problem> = body.withUnsafeBytes { bytes in
            do throws(Problem) {
                return .success(
                    try JSONDocument.parse(bytes, maximumDepth: 8) { root throws(Problem) in try groups(root) })
            } catch {
                return .failure(error)
            }
        }
        return try read.get()
    }

    private static func groups(_ root: JSONNode) throws(Problem) -> Set<ExactText>? {
        let top = WirePath("")
        try root.checkObject(top, known: ["groups"])
        guard let node = root["groups"] else { return nil }
        let names = node.elements.compactMap(\.string)
        guard node.isArray, names.count == node.count, !names.isEmpty else {
            throw Invalid.problem(top.member("groups"), "must be an array of names such as “customer.address”")
        }
        return Set(names.map { ExactText($0) })
    }
}
