import MergeCore
import RecordStore

/// Reading and locking the rows that the edits of a push name.
extension PushRun {

    /// Reads rows of any section; whole records are read at the end, by resource.
    var reader: RecordReader {
        RecordReader(
            resource: plan.steps[0].edit.resource, session: session, dialect: dialect,
            rowsPerRecord: limits.rowsPerRecord, waits: !isShared)
    }

    func load(_ wave: [PushPlan.Step]) throws -> RowContext {
        // The roots that were locked are then all that is needed.
        if namesEachOnce, !fresh.isEmpty, wave.allSatisfy({ $0.rows.allSatisfy { $0.section == 0 } }) { return fresh }
        var context = RowContext()
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
            var missing: [RecordKey] = []
            for key in keys {
                if let row = fresh[id, key] { context.store([row], of: section, as: id) } else { missing.append(key) }
            }
            if missing.isEmpty { continue }
            let rows = try reader.rows(
                of: section, where: Array(0..<section.keyCount), in: RecordKey.ordered(missing).map(\.parts),
                locking: true)
            context.store(rows, of: section, as: id)
        }
        return context
    }

    /// The key of a row id with every temporary id replaced; nil while one is open.
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

    /// The value that stands for a created row where another refers to it.
    func reference(_ id: TemporaryID) -> Value? { created[id]?.parts.last }

    func row(
        _ key: RecordKey?, _ id: SectionID, _ section: Section, _ context: RowContext, equated: Bool
    ) throws -> [Value]? {
        guard let key else { return nil }
        if let row = context[id, key] { return row }
        // A key of a row that the collation equates is taken, but only for whoever would create it.
        guard equated, key.hasText else { return nil }
        return try reader.rows(
            of: section, where: Array(0..<section.keyCount), in: [key.parts], locking: true
        ).first
    }
}
