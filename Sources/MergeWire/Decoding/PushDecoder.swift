package import MergeCore

/// Reads the bodies of `POST /v1/push` and `POST /v1/merge/{resource}`.
package struct PushDecoder: Sendable {
    private let catalog: Catalog
    private let limits: WireLimits
    private let requiresVersion: Bool
    private let earlier: EarlierIDs
    private let checkpoint: Checkpoint

    /// Throws a problem if no client waits for the answer any more.
    package typealias Checkpoint = @Sendable () throws(Problem) -> Void

    private static let keyPlace = WirePath("key")
    private static let pushMembers = ["key", "rules", "feed", "sent", "atomic", "edits"]
    private static let mergeMembers = ["id", "changeset", "resource", "key", "rules", "feed", "sent"]
    private static let editMembers = ["resource", "id", "changeset"]

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - requiresVersion: True if the `rules` of a push have to be the current version.
    ///   - earlier: The temporary ids of earlier pushes of the same request.
    ///   - checkpoint: Runs before each edit.
    package init(
        catalog: Catalog, limits: WireLimits, requiresVersion: Bool = true, after earlier: EarlierIDs = EarlierIDs(),
        checkpoint: @escaping Checkpoint = {}
    ) {
        self.earlier = earlier
        self.checkpoint = checkpoint
        self.catalog = catalog
        self.limits = limits
        self.requiresVersion = requiresVersion
    }

    /// Reads the body of a push.
    ///
    /// - Throws: a `Problem` if the body is not JSON, its envelope is invalid, or its key is unusable. All other
    ///   problems are in the result.
    package func push(
        _ body: UnsafeRawBufferPointer, headerKey: String?, sender: String
    ) throws(Problem) -> DecodedPush {
        try parse(body) { root throws(Problem) in
            try push(root, headerKey: headerKey, sender: sender, syncFeed: nil)
        }
    }

    /// Reads a push of a sync with its names.
    ///
    /// - Parameter syncFeed: The feed of the sync, which a push without a feed has too.
    package func syncedPush(_ body: UnsafeRawBufferPointer, sender: String, syncFeed: String?) -> SyncedPush {
        do throws(Problem) {
            return try parse(body) { root throws(Problem) in
                let names = PushNames(root, in: catalog)
                do throws(Problem) {
                    let decoded = try push(root, headerKey: nil, sender: sender, syncFeed: syncFeed)
                    guard decoded.key != nil else {
                        throw Problem(.invalid, detail: "A push of a sync needs a key.", path: Self.keyPlace)
                    }
                    return SyncedPush(names: names, decoded: .success(decoded))
                } catch {
                    return SyncedPush(names: names, decoded: .failure(error))
                }
            }
        } catch {
            return SyncedPush(names: PushNames(), decoded: .failure(error))
        }
    }

    private func parse<Answer>(
        _ body: UnsafeRawBufferPointer, _ read: (JSONNode) throws(Problem) -> Answer
    ) throws(Problem) -> Answer {
        try JSONDocument.parse(body, maximumDepth: limits.depth, maximumMemory: limits.memory, read)
    }

    private func push(
        _ root: JSONNode, headerKey: String?, sender: String, syncFeed: String?
    ) throws(Problem) -> DecodedPush {
        try checkEnvelope(root)
        let origin = try PushOrigin(root, edits: root["edits"]?.elements ?? [], syncFeed: syncFeed)
        let key = try requestKey(root, headerKey: headerKey, sender: sender, address: "/v1/push")
        do throws(Problem) {
            return DecodedPush(key: key, origin: origin, push: .success(try push(root, key?.text)))
        } catch {
            return DecodedPush(key: key, origin: origin, push: .failure(error))
        }
    }

    /// Checks everything that needs no rules, before the key is looked up.
    private func checkEnvelope(_ root: JSONNode) throws(Problem) {
        let top = WirePath("")
        try root.checkObject(top, known: Self.pushMembers)
        try checkIsText(root["rules"], at: top.member("rules"))
        _ = try atomicity(root["atomic"])
        let place = top.member("edits")
        guard let edits = root["edits"] else { throw Invalid.problem(place, "is missing") }
        guard edits.isArray else { throw Invalid.problem(place, "must be an array of edits") }
        guard edits.count <= limits.edits else { throw Invalid.tooMany("edits", limit: limits.edits, at: place) }
        for (index, edit) in edits.elements.enumerated() {
            try checkpoint()
            let place = place.element(index)
            try edit.checkObject(place, known: Self.editMembers)
            guard let name = edit["resource"] else { throw Invalid.problem(place.member("resource"), "is missing") }
            guard name.string != nil else {
                throw Invalid.problem(place.member("resource"), "must be the name of a resource")
            }
            try checkChangeset(edit, at: place)
        }
    }

    private func checkChangeset(_ edit: JSONNode, at path: WirePath) throws(Problem) {
        let place = path.member("changeset")
        guard let changeset = edit["changeset"] else { throw Invalid.problem(place, "is missing") }
        guard changeset.isObject else {
            throw Invalid.problem(place, "must be an object, not \(changeset.scalar.kind)")
        }
    }

    private func checkIsText(_ node: JSONNode?, at place: WirePath) throws(Problem) {
        guard node.map({ $0.string != nil }) ?? true else { throw Invalid.problem(place, "must be a string") }
    }

    private func push(_ root: JSONNode, _ key: String?) throws(Problem) -> Push {
        let place = WirePath("").member("edits")
        var nodes: [(resource: Resource?, node: JSONNode)] = []
        let edits = root["edits"]?.elements ?? []
        nodes.reserveCapacity(edits.count)
        try checkRules(root["rules"], of: edits.lazy.map { (catalog[$0["resource"]?.string ?? ""], $0) })
        for (index, edit) in edits.enumerated() {
            nodes.append((try resource(edit, at: place.element(index)), edit))
        }
        return Push(
            key: key, atomicity: try atomicity(root["atomic"]), edits: try decode(nodes) { place.element($0) },
            refused: earlier.refusedIDs)
    }

    /// Reads one edit as a separate push.
    package func merge(
        _ body: UnsafeRawBufferPointer, resource: Resource, headerKey: String?, sender: String
    ) throws(Problem) -> DecodedPush {
        try parse(body) { root throws(Problem) in
            try checkEnvelope(root, of: resource)
            let origin = try PushOrigin(root, edits: [root], syncFeed: nil)
            let key = try requestKey(root, headerKey: headerKey, sender: sender, address: "/v1/merge/" + resource.name)
            do throws(Problem) {
                return DecodedPush(
                    key: key, origin: origin, push: .success(try merge(root, of: resource, key: key?.text)))
            } catch {
                return DecodedPush(key: key, origin: origin, push: .failure(error))
            }
        }
    }

    private func checkEnvelope(_ root: JSONNode, of resource: Resource) throws(Problem) {
        let top = WirePath("")
        try root.checkObject(top, known: Self.mergeMembers)
        try checkIsText(root["rules"], at: top.member("rules"))
        if let named = root["resource"], !named.isText(resource.name) {
            throw Invalid.problem(top.member("resource"), "is another resource than the one of the URL")
        }
        try checkChangeset(root, at: top)
    }

    private func merge(_ root: JSONNode, of resource: Resource, key: String?) throws(Problem) -> Push {
        try checkRules(root["rules"], of: [(resource, root)])
        return Push(key: key, atomicity: .push, edits: try decode([(resource, root)]) { _ in WirePath("") })
    }

    private func requestKey(
        _ root: JSONNode, headerKey: String?, sender: String, address: String
    ) throws(Problem) -> RequestKey? {
        guard let text = try key(root["key"], header: headerKey) else { return nil }
        return RequestKey(
            text: text, name: RequestFingerprint.name(of: text, sender: sender),
            fingerprint: RequestFingerprint.digest(root, address: address))
    }

    private func decode(
        _ nodes: [(resource: Resource?, node: JSONNode)], path: (Int) -> WirePath
    ) throws(Problem) -> [Edit] {
        let created = CreatedIDs(edits: nodes, in: catalog, after: earlier)
        var items = 0
        var edits: [Edit] = []
        edits.reserveCapacity(nodes.count)
        for (index, (resource, node)) in nodes.enumerated() {
            guard let resource else { continue }
            try checkpoint()
            let decoder = EditDecoder(resource: resource, created: created, limits: limits)
            edits.append(try decoder.decode(node, path(index), items: &items))
        }
        return edits
    }

    private func resource(_ edit: JSONNode, at path: WirePath) throws(Problem) -> Resource {
        let place = path.member("resource")
        let name = edit["resource"]?.string ?? ""
        guard let resource = catalog[name] else {
            if name.utf8.count > NameIndex.maximumBytes {
                throw Invalid.tooLong(at: place, limit: NameIndex.maximumBytes)
            }
            let ending = NearestName.ending(for: name, among: catalog.resources.map(\.name))
            throw Problem(.unknownResource, detail: "“\(name)” is not a resource\(ending)", path: place)
        }
        return resource
    }

    private func key(_ node: JSONNode?, header: String?) throws(Problem) -> String? {
        let place = Self.keyPlace
        var body: String?
        if let node {
            guard let text = node.string else { throw Invalid.problem(place, "must be a string") }
            body = text
        }
        if let body, let header, !body.utf8.elementsEqual(header.utf8) {
            throw Invalid.problem(place, "is another key than the header Idempotency-Key")
        }
        guard let key = body ?? header else { return nil }
        guard (1...255).contains(key.unicodeScalars.count) else {
            throw Invalid.problem(place, "must have 1 to 255 characters")
        }
        return key
    }

    /// Checks that a push names the current rules version, or uses an earlier name of a group or field.
    private func checkRules(
        _ node: JSONNode?, of edits: some Sequence<(Resource?, JSONNode)>
    ) throws(Problem) {
        guard let version = node?.string else { return }
        guard
            version.isExactly(catalog.version) || !requiresVersion
                || edits.contains(where: { EarlierNames.areUsed(in: $1, of: $0) })
        else {
            throw Problem(
                .rulesChanged,
                detail:
                    "The push names another version of the rules. Read /v1/rules again. Nothing was written.",
                path: WirePath("rules"))
        }
    }

    private func atomicity(_ node: JSONNode?) throws(Problem) -> Atomicity {
        guard let node else { return .push }
        guard let atomicity = Atomicity.allCases.first(where: { node.isText($0.rawValue) }) else {
            throw Invalid.problem(WirePath("atomic"), "must be “push” or “edit”")
        }
        return atomicity
    }
}
