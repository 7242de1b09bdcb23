package import MergeCore

/// A client's filter with its canonical text, which is equal for filters with equal conditions.
package struct ReadFilter: Sendable, Hashable {
    /// The filter.
    package let filter: RecordFilter
    /// The filter as JSON, with sorted names and values in the gateway's own form.
    package let text: String
}

/// Reads `filter` of changes, snapshots and syncs.
package struct FilterDecoder {
    private let catalog: Catalog
    private let viewer: Viewer?
    private static let top = WirePath("filter")
    private static let depth = 32
    /// The maximum length of the canonical text, which is part of the feed's id.
    package static let maximumBytes = 4_096
    /// The maximum length of a sent filter, which may contain spaces and long spellings.
    private static let maximumSent = 4 * maximumBytes

    /// - Parameter viewer: the client, which may test only fields that it reads; nil without access rules.
    package init(catalog: Catalog, viewer: Viewer?) {
        self.catalog = catalog
        self.viewer = viewer
    }

    /// Reads a filter.
    ///
    /// - Returns: nil if it has no condition.
    /// - Throws: a 400 `Problem` with a path for an unknown name, and for a value that the field cannot contain.
    package func decode(_ bytes: [UInt8]) throws(Problem) -> ReadFilter? {
        guard bytes.count <= Self.maximumSent else { throw Self.tooLong }
        let text = try read(bytes).text
        guard text.utf8.count <= Self.maximumBytes else { throw Self.tooLong }
        let canonical = try read(Array(text.utf8))
        return canonical.conditions.isEmpty ? nil : ReadFilter(filter: RecordFilter(canonical.conditions), text: text)
    }

    private static let tooLong = Problem(
        .invalid, detail: "“filter” is longer than \(maximumBytes) bytes. Use fewer values, or a range.", path: top)

    private typealias Conditions = [ExactText: [RecordFilter.Condition]]

    private func read(_ bytes: [UInt8]) throws(Problem) -> (conditions: Conditions, text: String) {
        let read: Result<(Conditions, String), Problem> = bytes.withUnsafeBytes { bytes in
            do throws(Problem) {
                return .success(
                    try JSONDocument.parse(bytes, maximumDepth: Self.depth) { root throws(Problem) in
                        try self.read(root)
                    })
            } catch {
                return .failure(error)
            }
        }
        return try read.get()
    }

    private func read(_ root: JSONNode) throws(Problem) -> (Conditions, String) {
        guard root.isObject else {
            throw Invalid.problem(Self.top, "must be an object of resources, not \(root.scalar.kind)")
        }
        var all: Conditions = [:]
        var texts: [(name: String, text: [UInt8])] = []
        for (name, node) in root.members {
            let path = Self.top.member(name.string)
            let resource = try resource(name, at: path)
            guard node.isObject else {
                throw Invalid.problem(path, "must be an object of fields, not \(node.scalar.kind)")
            }
            if node.count == 0 { continue }
            let (conditions, text) = try read(node, of: resource, path)
            all[name] = conditions
            texts.append((resource.name, text))
        }
        return (all, String(decoding: Self.object(texts), as: UTF8.self))
    }

    /// Returns an object with sorted members.
    private static func object(_ members: [(name: String, text: [UInt8])]) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            for (name, text) in members.sorted(by: { ExactText($0.name) < ExactText($1.name) }) {
                writer.name(name)
                writer.raw(text)
            }
        }
        return writer.bytes
    }

    private func resource(_ name: ExactText, at path: WirePath) throws(Problem) -> Resource {
        let readable = catalog.resources.filter { viewer?.view(of: $0)?.isClosed != true }
        guard let resource = readable.first(where: { $0.name.isExactly(name.string) }) else {
            let isLong = name.string.utf8.count > NameIndex.maximumBytes
            throw Problem(
                .unknownResource,
                detail: (isLong ? "A name in “filter”" : "“\(name.string)”") + " is not a resource"
                    + NearestName.ending(for: name.string, among: readable.map(\.name)), path: path)
        }
        guard resource.root.keyCount > 0 else {
            throw Invalid.problem(path, "has no filter, because its records have no id")
        }
        return resource
    }

    // MARK: Fields

    private func read(
        _ node: JSONNode, of resource: Resource, _ path: WirePath
    ) throws(Problem) -> ([RecordFilter.Condition], [UInt8]) {
        let root = resource.root
        var conditions: [RecordFilter.Condition] = []
        var texts: [(name: String, text: [UInt8])] = []
        for (name, node) in node.members {
            let place = path.member(name.string)
            let field = try field(name, of: resource, path)
            let column = root.columns[field.column]
            let (test, text) = try test(node, of: column, at: place)
            guard !conditions.contains(where: { $0.field.isExactly(field.name) }) else {
                throw Invalid.twice(name, at: path)
            }
            conditions.append(RecordFilter.Condition(section: root.name, field: field.name, test: test))
            texts.append((root.name + "." + field.name, text))
        }
        return (conditions, Self.object(texts))
    }

    /// Finds a readable field by `section.field`, also by an earlier name of the field.
    private func field(_ name: ExactText, of resource: Resource, _ path: WirePath) throws(Problem) -> Field {
        let root = resource.root
        let rights = viewer?.view(of: resource)?.widestSight.sections[0]
        func isReadable(_ shown: Int) -> Bool { rights.map { $0.isGiven && $0.fields[shown] } ?? true }
        let prefix = root.name + "."
        if name.string.utf8.starts(with: prefix.utf8) {
            let rest = String(decoding: name.string.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
            if let field = root.field(named: rest), isReadable(field) { return root.fields[field] }
            if let field = root.readOnlyField(named: rest), isReadable(root.fields.count + field) {
                return root.readOnly[field]
            }
        }
        let names = root.shown.indices.filter(isReadable).map { prefix + root.shown[$0].name }
        throw Invalid.unknown(.field, named: name, at: path, among: names)
    }

    // MARK: Tests

    private static let members = ["from", "before"]

    private func test(
        _ node: JSONNode, of column: Column, at path: WirePath
    ) throws(Problem) -> (RecordFilter.Test, [UInt8]) {
        if node.isObject { return try range(node, of: column, at: path) }
        let nodes = node.isArray ? node.elements : [node]
        var texts: Set<[UInt8]> = []
        for (index, element) in nodes.enumerated() {
            let place = node.isArray ? path.element(index) : path
            texts.insert(
                try text(element.scalar, of: column, at: place) { scalar throws(ValueProblem) in
                    try column.filterValue(scalar)
                })
        }
        var writer = JSONWriter()
        writer.array { writer in
            for text in texts.sorted(by: { $0.lexicographicallyPrecedes($1) }) { writer.raw(text) }
        }
        return (.oneOf(nodes.map(\.scalar)), writer.bytes)
    }

    private func range(
        _ node: JSONNode, of column: Column, at path: WirePath
    ) throws(Problem) -> (RecordFilter.Test, [UInt8]) {
        try node.checkObject(path, known: Self.members)
        guard node.count > 0 else { throw Invalid.problem(path, "must contain “from” or “before”") }
        var texts: [(name: String, text: [UInt8])] = []
        for name in Self.members {
            guard let bound = node[name] else { continue }
            let text = try text(bound.scalar, of: column, at: path.member(name)) { scalar throws(ValueProblem) in
                try column.filterBound(scalar)
            }
            texts.append((name, text))
        }
        return (.range(from: node["from"]?.scalar, before: node["before"]?.scalar), Self.object(texts))
    }

    /// Returns a value in the gateway's own form.
    private func text(
        _ scalar: Scalar, of column: Column, at path: WirePath, by convert: (Scalar) throws(ValueProblem) -> Value
    ) throws(Problem) -> [UInt8] {
        do throws(ValueProblem) {
            var writer = JSONWriter()
            let value = try convert(scalar)
            if case .json(let tree) = value {
                writer.raw(tree.canonicalText)
            } else {
                writer.value(value, column.style)
            }
            return writer.bytes
        } catch {
            throw Problem(.invalidValue, detail: "“\(path)” \(error.reason).", path: path)
        }
    }
}
