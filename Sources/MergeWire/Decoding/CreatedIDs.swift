import MergeCore

/// The temporary ids that a push creates.
///
/// They are collected first, because only they distinguish a reference to a new row from a plain number or text.
struct CreatedIDs {
    private let catalog: Catalog
    private let earlier: EarlierIDs
    private var tables: [TemporaryID: TableName] = [:]
    /// The section of each created row.
    private(set) var sections: [TemporaryID: Section] = [:]

    /// Collects the ids of the raw edits; the decoder refuses malformed edits later.
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

    /// Returns the temporary id in the part of an id that the database numbers, if any.
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

    subscript(id: TemporaryID) -> TableName? { tables[id] }

    /// Returns true if the row is in the table of a reference, whatever resource creates it.
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

    /// Returns the key of the referenced row if an earlier push created it.
    func earlierKey(_ id: TemporaryID, for target: SectionReference) -> RecordKey? {
        table(of: target).flatMap { earlier.key(id, in: $0) }
    }

    /// Returns the key of a row if an earlier push created it.
    ///
    /// - Parameter table: The table, or nil for any table.
    func earlierKey(_ id: TemporaryID, in table: TableName?) -> RecordKey? {
        id.isMarked && tables[id] == nil ? earlier.key(id, in: table) : nil
    }

    /// Returns true if an earlier push failed to create the row.
    func wasRefused(_ id: TemporaryID) -> Bool { tables[id] == nil && earlier.refusedIDs.contains(id) }
}
