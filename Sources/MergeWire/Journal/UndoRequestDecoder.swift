package import MergeCore

/// Reads the body of `POST /v1/journal/{n}/undo`.
package enum UndoRequestDecoder {
    /// - Returns: the groups to take back, as `section.group`; nil for all.
    /// - Throws: a 400 `Problem` where the body is not what it should be.
    package static func groups(_ body: [UInt8]) throws(Problem) -> Set<String>? {
        if body.isEmpty { return nil }
        let read: Result<Set<String>?, Problem> = body.withUnsafeBytes { bytes in
            do throws(Problem) {
                return .success(
                    try JSONDocument.parse(bytes, maximumDepth: 8) { root throws(Problem) in try groups(root) })
            } catch {
                return .failure(error)
            }
        }
        return try read.get()
    }

    private static func groups(_ root: JSONNode) throws(Problem) -> Set<String>? {
        let top = WirePath("")
        _ = try root.object(top, known: ["groups"])
        guard let node = root["groups"] else { return nil }
        let names = node.elements.compactMap(\.string)
        guard node.isArray, names.count == node.count, !names.isEmpty else {
            throw Invalid.problem(top.member("groups"), "must be an array of names such as “customer.address”")
        }
        return Set(names)
    }
}
