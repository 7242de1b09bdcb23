package import MergeCore

/// Reads the body of `POST /v1/sync`.
package struct SyncDecoder: Sendable {
    private let limits: WireLimits
    private static let members = ["feed", "since", "resources", "limit", "filter", "pushes"]
    /// The maximum number of pushes in a request.
    package static let maximumPushes = 1_000

    /// Creates a decoder with the limits of the body, and with limits on edits and items for each push.
    package init(limits: WireLimits) {
        self.limits = limits
    }

    /// Reads a body without the contents of its pushes.
    ///
    /// - Throws: a `Problem` if the request itself is invalid.
    package func decode(_ body: UnsafeRawBufferPointer) throws(Problem) -> SyncRequest {
        // A push is two levels deeper here.
        try JSONDocument.parse(body, maximumDepth: limits.depth + 2, maximumMemory: limits.memory) {
            root throws(Problem) in
            let top = WirePath("")
            try root.checkObject(top, known: Self.members)
            return SyncRequest(
                since: try number(root["since"], at: top.member("since")),
                feed: try text(root["feed"], at: top.member("feed")),
                resources: try resources(root["resources"], at: top.member("resources")),
                limit: try number(root["limit"], at: top.member("limit")),
                filter: root["filter"].map { Array($0.text.utf8) },
                pushes: try pushes(root["pushes"], at: top.member("pushes")))
        }
    }

    private func number(_ node: JSONNode?, at place: WirePath) throws(Problem) -> Int? {
        guard let node else { return nil }
        guard node.string == nil, let number = node.scalar.wholeNumber, number >= 0 else {
            throw Invalid.problem(place, "must be an integer that is not negative")
        }
        return Int(clamping: number)
    }

    private func text(_ node: JSONNode?, at place: WirePath) throws(Problem) -> String? {
        guard let node else { return nil }
        guard let text = node.string else { throw Invalid.problem(place, "must be a string") }
        return text
    }

    private func resources(_ node: JSONNode?, at place: WirePath) throws(Problem) -> [String]? {
        guard let node else { return nil }
        guard node.isArray, node.count > 0 else { throw Invalid.problem(place, "must be an array of names, not empty") }
        var names: [String] = []
        for (index, element) in node.elements.enumerated() {
            guard let name = element.string else {
                throw Invalid.problem(place.element(index), "must be the name of a resource")
            }
            names.append(name)
        }
        return names
    }

    private func pushes(_ node: JSONNode?, at place: WirePath) throws(Problem) -> [SyncRequest.SentPush] {
        guard let node else { return [] }
        guard node.isArray else { throw Invalid.problem(place, "must be an array of pushes") }
        guard node.count <= Self.maximumPushes else {
            throw Invalid.tooMany("pushes", limit: Self.maximumPushes, at: place)
        }
        return node.elements.map { push in
            SyncRequest.SentPush(key: push["key"]?.string, body: Array(push.text.utf8))
        }
    }
}
