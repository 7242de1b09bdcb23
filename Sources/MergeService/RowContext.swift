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

    subscript(id: SectionID, key: RecordKey) -> [Value]? { rows[id]?[key] }

    mutating func store(_ found: [[Value]], of section: Section, as id: SectionID) {
        for row in found { rows[id, default: [:]][section.key(of: row)] = row }
    }
}

extension RecordKey {
    /// A fixed order, in which every push takes its locks.
    func precedes(_ other: RecordKey) -> Bool {
        for (a, b) in zip(parts, other.parts) where a != b {
            switch (a, b) {
            case (.integer(let x), .integer(let y)): return x < y
            case (.text(let x), .text(let y)): return x < y
            case (.date(let x), .date(let y)): return x < y
            case (.dateTime(let x), .dateTime(let y)): return x < y
            case (.bytes(let x), .bytes(let y)): return x.lexicographicallyPrecedes(y)
            default: return String(describing: a) < String(describing: b)
            }
        }
        return false
    }

    var hasText: Bool {
        parts.contains { part in
            if case .text = part { true } else { false }
        }
    }
}
