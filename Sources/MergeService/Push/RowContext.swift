import MergeCore

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

/// The locked rows that edits are decided on, as they were when they were read.
struct RowContext {
    /// The row that was found under a key, or none.
    struct Found {
        /// nil where there was no row.
        let row: [Value]?
        /// The time by `RowChanges` at which it was read.
        let time: Int
    }

    private var rows: [SectionID: [RecordKey: Found]] = [:]

    /// Returns what was found under a key; nil where nobody has asked.
    subscript(id: SectionID, key: RecordKey) -> Found? { rows[id]?[key] }

    /// Keeps the rows that were found under some keys.
    ///
    /// - Returns: false if more than one row was found under a key; then nothing is kept.
    mutating func store(
        _ found: [[Value]], askedFor keys: [RecordKey], of section: Section, as id: SectionID, at time: Int
    ) -> Bool {
        // Where each row has a key of its own, no key has two.
        guard found.count <= 1 || section.keyCount == 0 || Set(found.map { section.key(of: $0) }).count == found.count
        else { return false }
        // Taken out while it grows, or it would be copied.
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
