import MergeCore
import RecordStore

/// Names a table's rows among the sections of a push.
struct SectionID: Hashable {
    let resource: String
    let section: Int

    /// Names are long and sections few.
    func hash(into hasher: inout Hasher) {
        hasher.combine(section)
        hasher.combine(resource.utf8.count)
    }
}

/// The locked rows that the edits of one wave are decided on.
struct RowContext {
    private var rows: [SectionID: [RecordKey: [Value]]] = [:]

    var isEmpty: Bool { rows.isEmpty }

    subscript(id: SectionID, key: RecordKey) -> [Value]? { rows[id]?[key] }

    mutating func store(_ found: [[Value]], of section: Section, as id: SectionID) {
        // Taken out while it grows, or it would be copied.
        var known = rows.removeValue(forKey: id) ?? Dictionary(minimumCapacity: found.count)
        for row in found { known[section.key(of: row)] = row }
        rows[id] = known
    }
}

extension RecordKey {
    var hasText: Bool {
        parts.contains { part in
            if case .text = part { true } else { false }
        }
    }
}
