import MergeCore
import RecordStore

extension PushTransaction {

    var reader: RecordReader {
        RecordReader(
            resource: plan.steps[0].edit.resource, session: session, dialect: dialect,
            rowsPerRecord: limits.rowsPerRecord, waits: waits)
    }

    /// Locks and reads the rows that some edits name, unless they are current.
    func load(_ wave: [PushPlan.Step]) throws {
        // In this case the edits need only the roots, which are already locked.
        if namesEachOnce, wave.count > 1, changes.now == 0,
            wave.allSatisfy({ $0.rows.allSatisfy { $0.section == 0 } })
        {
            return
        }
        var wanted: [SectionID: (section: Section, keys: Set<RecordKey>)] = [:]
        for step in wave {
            let resource = step.edit.resource
            if let key = settled(step.edit.id) {
                let id = SectionID(resource: resource.name, section: 0)
                wanted[id, default: (resource.root, [])].keys.insert(key)
            }
            for row in step.rows where row.section > 0 {
                guard let key = row.id.flatMap({ settled($0) }) else {
                    continue
                }
                let id = SectionID(resource: resource.name, section: row.section)
                wanted[id, default: (resource.sections[row.section], [])].keys.insert(key)
            }
        }
        for id in wanted.keys.sorted(by: { ($0.section, $0.resource) < ($1.section, $1.resource) }) {
            guard let (section, keys) = wanted[id] else { continue }
            let missing = keys.filter { known($0, of: section, as: id) == nil }
            if !missing.isEmpty { try read(RecordKey.ordered(Array(missing)), of: section, as: id) }
        }
    }

    /// Locks and reads rows after all pending updates.
    func read(_ keys: [RecordKey], of section: Section, as id: SectionID) throws {
        try flush()
        let rows = try reader.rows(
            of: section, where: Array(0..<section.keyCount), in: keys.map(\.parts), locking: true)
        guard context.store(rows, askedFor: keys, of: section, as: id, at: changes.now) else {
            throw StoreError.ambiguous(section)
        }
    }

    /// Returns a row that was read, if no later write can have changed it; otherwise nil.
    private func known(_ key: RecordKey, of section: Section, as id: SectionID) -> RowContext.Found? {
        guard let found = context[id, key] else { return nil }
        // Most pushes read all rows before their first write.
        if changes.now == found.time { return found }
        let footprint = active.footprints[section]
        let reference = isNamedOnce(section) ? nil : footprint.reference(to: key)
        return changes.mayHaveChanged(reference, in: footprint.table, since: found.time) ? nil : found
    }

    /// Returns the key of a row id with all temporary ids replaced; nil if one has no key yet.
    func settled(_ id: RowID) -> RecordKey? {
        if let key = id.key { return key }
        var values: [Value] = []
        for part in id.parts {
            switch part {
            case .value(let value): values.append(value)
            case .temporary(let temporary):
                guard let value = reference(temporary) else { return nil }
                values.append(value)
            case .generated: return nil
            }
        }
        return RecordKey(values)
    }

    /// Returns the value by which other rows refer to a created row.
    func reference(_ id: TemporaryID) -> Value? { created[id]?.parts.last }

    /// Returns the row with a key, as earlier edits left it.
    ///
    /// - Parameters:
    ///   - step: the edit that needs the row; its other rows are read at the same time.
    ///   - equated: if true, also finds a row whose key is equal only under the collation, as a creation must.
    func row(
        _ key: RecordKey?, of section: Section, as id: SectionID, for step: PushPlan.Step, equated: Bool
    ) throws -> [Value]? {
        guard let key else { return nil }
        // The first call for an edit reads all its rows; later calls read rows that its own writes may have changed.
        var found = known(key, of: section, as: id)
        if found == nil, reloaded != step.index {
            reloaded = step.index
            try load([step])
            found = known(key, of: section, as: id)
        }
        if found == nil {
            try read([key], of: section, as: id)
            found = context[id, key]
        }
        if let row = found?.row { return row }
        guard equated, key.hasText else { return nil }
        try flush()
        return try reader.rows(
            of: section, where: Array(0..<section.keyCount), in: [key.parts], locking: true, includesEquated: true
        ).first
    }
}
