import MergeCore

/// The temporary ids that a push creates, gathered before its values are read, because only they tell a reference to a
/// new row from a number or text of its own.
struct CreatedIDs {
    private var sections: [String: SectionReference] = [:]

    /// A look over the raw edits; what is not well-formed is left to the decoder to refuse.
    init(edits: [(resource: Resource?, node: JSONNode)]) {
        for (resource, edit) in edits {
            guard let resource, let changeset = edit["changeset"] else { continue }
            for (name, node) in changeset.members {
                guard let index = resource.section(named: name) else { continue }
                let section = resource.sections[index]
                if index == 0 {
                    note(edit["id"], node, section, resource)
                } else if section.kind == .list, node.isArray {
                    for item in node.elements { note(item["id"], item, section, resource) }
                }
            }
        }
    }

    private mutating func note(_ id: JSONNode?, _ row: JSONNode, _ section: Section, _ resource: Resource) {
        guard let id, let old = row["old"], old.isNull, let new = row["new"], !new.isNull else { return }
        guard let temporary = Self.temporary(id, in: section) else { return }
        sections[temporary.text] = SectionReference(resource: resource.name, section: section.name)
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
        switch scalar {
        case .text(let text) where text.hasPrefix("tmp:"): TemporaryID(text)
        case .integer(let number) where isGenerated && number < 0: TemporaryID(String(number))
        default: nil
        }
    }

    /// Which section a temporary id creates a row of; nil where the push creates none of that name.
    subscript(id: TemporaryID) -> SectionReference? { sections[id.text] }
}
