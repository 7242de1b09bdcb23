import MergeCore

/// The temporary ids that a push creates, gathered before its values are read, because only they tell a reference to a
/// new row from a number or text of its own.
struct CreatedIDs {
    private let catalog: Catalog
    private let earlier: EarlierIDs
    private var tables: [TemporaryID: TableName] = [:]
    /// The section of each row that is created.
    private(set) var sections: [TemporaryID: Section] = [:]

    /// A look over the raw edits; what is not well-formed is left to the decoder to refuse.
    ///
    /// - Parameter earlier: the ids of pushes before, in the same request.
    init(edits: [(resource: Resource?, node: JSONNode)], in catalog: Catalog, after earlier: EarlierIDs = EarlierIDs())
    {
        self.catalog = catalog
        self.earlier = earlier
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
        sections[temporary] = section
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
        guard let table = self[id] else { return false }
        return self.table(of: target) == table
    }

    private func table(of target: SectionReference) -> TableName? {
        guard let resource = catalog[target.resource], let index = resource.section(named: target.section) else {
            return nil
        }
        return resource.sections[index].table
    }

    // MARK: Pushes before, in the same request

    /// Returns the key of a row that a reference can mean and an earlier push created; nil where none did.
    func earlierKey(_ id: TemporaryID, for target: SectionReference) -> RecordKey? {
        table(of: target).flatMap { earlier.key(id, in: $0) }
    }

    /// Returns the key of a row that an earlier push created; nil where none did.
    ///
    /// - Parameter table: nil for that of any row.
    func earlierKey(_ id: TemporaryID, in table: TableName?) -> RecordKey? {
        id.isMarked && tables[id] == nil ? earlier.key(id, in: table) : nil
    }

    /// Says if an earlier push would have created the row, and did not.
    func wasRefused(_ id: TemporaryID) -> Bool { tables[id] == nil && earlier.refusedIDs.contains(id) }
}
