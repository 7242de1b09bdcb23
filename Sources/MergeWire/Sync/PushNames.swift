package import MergeCore

/// The names in the body of a push, even if the push is invalid.
package struct PushNames: Sendable {
    struct Record: Sendable, Hashable {
        let resource: String
        let key: RecordKey
    }

    /// The temporary ids that the push creates, each with the section of its row.
    package private(set) var created: [TemporaryID: Section] = [:]
    /// The names of the resources.
    package private(set) var resources: Set<String> = []
    private(set) var records: Set<Record> = []
    /// All temporary ids with `tmp:` in the body.
    private(set) var temporaryIDs: Set<TemporaryID> = []

    /// Creates the names of a push that names nothing.
    package init() {}

    init(_ root: JSONNode, in catalog: Catalog) {
        let nodes = (root["edits"]?.elements ?? []).map { edit in
            (resource: edit["resource"]?.string.flatMap { catalog[$0] }, node: edit)
        }
        created = CreatedIDs(edits: nodes, in: catalog).sections
        for (resource, node) in nodes {
            if let resource {
                resources.insert(resource.name)
                if let key = node["id"].flatMap({ EntryReader.key($0, resource.root) }) {
                    records.insert(Record(resource: resource.name, key: key))
                }
            }
            collectTemporaryIDs(node)
        }
    }

    private mutating func collectTemporaryIDs(_ node: JSONNode) {
        if let id = node.string.flatMap({ TemporaryID(marked: $0) }) { temporaryIDs.insert(id) }
        if node.isArray {
            for element in node.elements { collectTemporaryIDs(element) }
        } else if node.isObject {
            for (_, member) in node.members { collectTemporaryIDs(member) }
        }
    }
}
