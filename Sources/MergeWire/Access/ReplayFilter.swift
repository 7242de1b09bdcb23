package import MergeCore

/// Removes from a stored answer the values that its client may no longer read.
package enum ReplayFilter {
    /// Returns the records of an answer whose resources have access rules.
    package static func records(in answer: [UInt8], of catalog: Catalog) -> [(resource: Resource, key: RecordKey)] {
        let found = JSONDocument.stored(answer) { root in
            results(root).compactMap { name($0, catalog) }
        }
        return found ?? []
    }

    private static func results(_ root: JSONNode) -> [JSONNode] { root["results"]?.elements ?? [root] }

    private static func name(_ node: JSONNode, _ catalog: Catalog) -> (resource: Resource, key: RecordKey)? {
        guard let resource = node["resource"]?.string.flatMap({ catalog[$0] }), resource.access != nil,
            let key = node.recordKey(of: resource)
        else { return nil }
        return (resource, key)
    }

    /// Returns an answer with only the values that its client may still read, or nil if the answer is not JSON.
    ///
    /// - Parameter standing: The current records of `records(in:of:)` as the client may read them, in the same order;
    ///   nil for an invisible record.
    package static func filtered(
        _ answer: [UInt8], standing: [ReadRecord?], for viewer: Viewer, of catalog: Catalog
    ) -> [UInt8]? {
        JSONDocument.stored(answer) { root in
            var rest = standing[...]
            var writer = JSONWriter(capacity: answer.count)
            func write(_ node: JSONNode, _ writer: inout JSONWriter) {
                let record = name(node, catalog) == nil ? nil : rest.popFirst() ?? nil
                result(node, now: record, for: viewer, of: catalog, to: &writer)
            }
            guard let results = root["results"] else {
                write(root, &writer)
                return writer.bytes
            }
            writer.object { writer in
                for (name, value) in root.members {
                    writer.name(name.string)
                    switch name.string {
                    case "results":
                        writer.array { writer in
                            for node in results.elements { write(node, &writer) }
                        }
                    case "problem": problem(value, to: &writer)
                    default: writer.raw(value.text)
                    }
                }
            }
            return writer.bytes
        }
    }

    private static func result(
        _ node: JSONNode, now read: ReadRecord?, for viewer: Viewer, of catalog: Catalog, to writer: inout JSONWriter
    ) {
        let resource = node["resource"]?.string.flatMap { catalog[$0] }
        guard let resource, let view = viewer.view(of: resource) else { return writer.raw(node.text) }
        let record = read?.readable
        var sight: RecordSight?
        if case .one(let root?)? = record?.sections.first { sight = view.sight(view.grants(on: root)) }
        writer.object { writer in
            for (name, value) in node.members {
                writer.name(name.string)
                switch name.string {
                case "record":
                    if let record { RecordEncoder.write(record, of: resource, to: &writer) } else { writer.null() }
                case "outcomes":
                    writer.array { writer in
                        for outcome in value.elements {
                            self.outcome(outcome, of: resource, seenAs: sight, to: &writer)
                        }
                    }
                case "problem": problem(value, to: &writer)
                default: writer.raw(value.text)
                }
            }
            if let problem = read?.problem, node["problem"] == nil {
                writer.member("problem")
                ProblemEncoder.write(problem, to: &writer)
            }
        }
    }

    /// Writes a problem without the colliding row, which the client may no longer read.
    private static func problem(_ node: JSONNode, to writer: inout JSONWriter) {
        writer.object { writer in
            for (name, value) in node.members where name.string != "record" {
                writer.name(name.string)
                writer.raw(value.text)
            }
        }
    }

    private static let sides: Set<ExactText> = ["old", "oldHash", "current", "new", "written"].reduce(into: []) {
        $0.insert(ExactText($1))
    }

    static func outcome(
        _ node: JSONNode, of resource: Resource, seenAs sight: RecordSight?, to writer: inout JSONWriter
    ) {
        let index = node["section"]?.string.flatMap { resource.section(named: $0) }
        let section = index.map { resource.sections[$0] }
        let rights = index.flatMap { sight?.sections[$0] }
        let group = node["group"]?.string.flatMap { section?.group(named: $0) }
        var isRead = false
        if let sight, let index, let section, let group {
            isRead = sight.reads(group: section.groups[group], in: index)
        }
        writer.object { writer in
            for (name, value) in node.members {
                if name.string == "cascades" || (name.string == "parts" && !isRead) { continue }
                guard sides.contains(name), group == nil || !isRead else {
                    writer.name(name.string)
                    writer.raw(value.text)
                    continue
                }
                guard group == nil, let section, let rights, rights.isGiven, value.isObject else { continue }
                writer.name(name.string)
                writer.object { writer in
                    for (field, held) in value.members where reads(field.string, of: section, with: rights) {
                        writer.name(field.string)
                        writer.raw(held.text)
                    }
                }
            }
        }
    }

    private static func reads(_ name: String, of section: Section, with rights: SectionRights) -> Bool {
        guard let position = section.shown.firstIndex(where: { $0.name.isExactly(name) }) else { return name == "id" }
        return rights.fields[position]
    }
}
