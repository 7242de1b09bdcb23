import MergeCore

struct SectionID: Hashable {
    let resource: String
    let section: Int

    /// Hashes no more than the length of the name: names are long and sections few.
    func hash(into hasher: inout Hasher) {
        hasher.combine(section)
        hasher.combine(resource.utf8.count)
    }
}

extension SectionID: Comparable {
    static func < (a: SectionID, b: SectionID) -> Bool { (a.section, a.resource) < (b.section, b.resource) }
}

/// The locked rows on which edits are decided, as they were when they were read.
struct RowContext {
    struct Found {
        /// nil if the row does not exist.
        let row: [Value]?
        /// The time of the read in `RowChanges`.
        let time: Int
    }

    private var rows: [SectionID: [RecordKey: Found]] = [:]

    /// Returns the result of a search; nil if there was none.
    subscript(id: SectionID, key: RecordKey) -> Found? { rows[id]?[key] }

    /// Stores found rows; returns false, and stores nothing, if one key has several rows.
    mutating func store(
        _ found: [[Value]], askedFor keys: [RecordKey], of section: Section, as id: SectionID, at time: Int
    ) -> Bool {
        // If the keys are distinct, no key has two rows.
        guard found.count <= 1 || section.keyCount == 0 || Set(found.map { section.key(of: $0) }).count == found.count
        else { return false }
        // The dictionary is removed while it grows, to avoid a copy.
        var known = rows.removeValue(forKey: id) ?? Dictionary(minimumCapacity: keys.count)
        if found.count < keys.count || keys.first?.hasText == true {
            for key in keys { known[key] = Found(row: nil, time: time) }
        }
        for row in found { known[section.key(of: row)] = Found(row: row, time: time) }
        rows[id] = known
        return true
    }
}

extension RecordKey {
    var hasText: Bool {
        parts.contains { part in
            if case .text = part { true } else { false }
        }
    }
}
