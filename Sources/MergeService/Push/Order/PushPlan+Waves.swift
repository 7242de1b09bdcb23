import MergeCore

extension PushPlan {
    /// Returns the steps in waves, whose rows are read together.
    ///
    /// Edits of different records form a wave: one query per section reads their rows. Each wave reads the writes of
    /// earlier waves.
    func waves(_ run: RunEnvironment) -> [[Step]] {
        if run.mode.isEditByEdit || run.isEachForItself { return steps.map { [$0] } }
        // Pushes that share a transaction name different rows, so all can be read before any write.
        if run.batch.isShared { return [steps] }
        if run.namesEachOnce, steps.allSatisfy({ $0.needs.isEmpty }) { return [steps] }
        var waves: [[Step]] = []
        var wave: [Step] = []
        var touched: Set<RecordKey> = []
        var resource: String?
        for step in steps {
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
}
