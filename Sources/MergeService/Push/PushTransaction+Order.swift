import MergeCore
import RecordStore

extension PushTransaction {
    /// Locks all roots whose keys the push contains, in one global order, so that pushes cannot deadlock.
    func lockRoots() throws {
        // Two resources of one table may have different columns and conditions.
        var roots = plan.resources.map { resource in
            (
                name: resource.root.table.description + " " + resource.name, resource: resource,
                keys: RecordKey.ordered(
                    plan.steps.compactMap { step in
                        guard step.edit.resource === resource, mode.refusals[step.index] == nil else { return nil }
                        return step.edit.id.key
                    })
            )
        }
        namesEachOnce =
            roots.count == 1 && roots[0].keys.count == plan.steps.count
            && plan.steps.allSatisfy { !$0.edit.createsRecord }
        rootIsNamedOnce = namesEachOnce && plan.steps[0].edit.resource.rootHasItsTableAlone(active.footprints)
        roots.removeAll { $0.keys.isEmpty }
        guard roots.count > 1 || (roots.first?.keys.count ?? 0) > 1 else { return }
        for (_, resource, keys) in roots.sorted(by: { $0.name < $1.name }) { try lockRoots(keys, of: resource) }
    }

    /// If edits are independent, a root that cannot be read is left out; its own edit is refused later.
    private func lockRoots(_ keys: [RecordKey], of resource: Resource) throws {
        let id = SectionID(resource: resource.name, section: 0)
        do {
            try read(keys, of: resource.root, as: id)
        } catch let error as StoreError {
            guard isEachForItself, error.refusal != nil else { throw error }
            guard keys.count > 1 else { return }
            for key in keys { try lockRoots([key], of: resource) }
        }
    }

    /// Edits of different records form a wave: one query per section reads their rows.
    func waves() -> [[PushPlan.Step]] {
        // These pushes name different rows, so all can be read before any write.
        if batch.isShared { return [plan.steps] }
        if namesEachOnce, plan.steps.allSatisfy({ $0.needs.isEmpty }) { return [plan.steps] }
        var waves: [[PushPlan.Step]] = []
        var wave: [PushPlan.Step] = []
        var touched: Set<RecordKey> = []
        var resource: String?
        for step in plan.steps {
            let isRepeated = step.edit.id.key.map { touched.contains($0) } ?? false
            let needsWave = step.needs.contains { needed in wave.contains { $0.index == needed } }
            if isRepeated || needsWave || (resource != nil && resource != step.edit.resource.name) {
                waves.append(wave)
                wave = []
                touched = []
            }
            resource = step.edit.resource.name
            if let key = step.edit.id.key { touched.insert(key) }
            wave.append(step)
        }
        return wave.isEmpty ? waves : waves + [wave]
    }

    /// Returns true for a root that no two edits of the batch can share.
    func isNamedOnce(_ section: Section) -> Bool { rootIsNamedOnce && section.kind == .root }
}

extension Resource {
    fileprivate func rootHasItsTableAlone(_ footprints: Footprints) -> Bool {
        let table = footprints[root].table
        return sections.dropFirst().allSatisfy { footprints[$0].table != table }
    }
}
