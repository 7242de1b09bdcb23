import MergeCore

/// The temporary ids that a push creates, gathered before its values are read, because only they tell a reference to a
/// new row from a number or text of its own.
struct CreatedIDs {
    private let catalog: Catalog
    private var tables: [TemporaryID: TableName] = [:]

    /// A look over the raw edits; what is not well-formed is left to the decoder to refuse.
    init(edits: [(resource: Resource?, node: JSONNode)], in catalog: Catalog) {
        self.catalog = catalog
        for (resource, edit) in edits {
            guard let resource, let changeset = edit["changeset"] else { continue }
            for (name, node) in changeset.members {
                guard let index = resource.section(named: name.string) else { continue }
                let section = resource.sections[index]
                if index == 0 {
                    note(edit["id"], of: node, in: section)
                } else if section.kind == .list, node.isArray {
                    for item in node.elements { note(item["id"], of: item, in: section) }
                }
            }
        }
    }

    private mutating func note(_ id: JSONNode?, of row: JSONNode, in section: Section) {
        guard let id, let old = row["old"], old.isNull, let new = row["new"], !new.isNull else { return }
        guard let temporary = Self.temporary(id, in: section) else { return }
        tables[temporary] = section.table
    }

    /// The temporary id that an id holds, in the part that the database numbers.
    static func temporary(_ id: JSONNode, in section: Section) -> TemporaryID? {
        guard let position = section.generatedKeyColumn else { return nil }
        if id.isArray {
            let parts = id.elements
            return parts.count == section.keyCount ? temporary(parts[position].scalar, isGenerated: true) : nil
        }
        return temporary(id.scalar, isGenerated: true)
    }

    static func temporary(_ scalar: Scalar, isGenerated: Bool) -> TemporaryID? {
        if case .text(let text) = scalar, let id = TemporaryID(marked: text) { return id }
        return isGenerated ? TemporaryID(number: scalar) : nil
    }

    /// The table in which a row is created under a temporary id; nil where the push creates none of that name.
    subscript(id: TemporaryID) -> TableName? { tables[id] }

    /// Says if a temporary id stands for a row that a reference can mean, whichever resource over its table creates it.
    func has(_ id: TemporaryID, for target: SectionReference) -> Bool {
        guard let table = self[id], let resource = catalog[target.resource],
            let index = resource.section(named: target.section)
        else { return false }
        return resource.sections[index].table == table
    }
}
