import MergeCore

extension PushResult {
    /// Returns the part of the result that its client may read.
    ///
    /// - Parameter reports: the reports of the result's edits.
    func seen(by viewer: Viewer, in active: ActiveRules, as reports: ArraySlice<EditReport>) -> PushResult {
        PushResult(
            key: key, status: status,
            results: zip(results, reports).map { $0.seen(by: viewer, in: active, as: $1) })
    }
}

extension EditResult {
    fileprivate func seen(by viewer: Viewer, in active: ActiveRules, as report: EditReport) -> EditResult {
        let view = viewer.view(of: resource)
        var sight: RecordSight?
        if let view {
            let before = report.held.map { view.sight($0) } ?? view.widestSight
            var after = before
            if case .one(let root?)? = record?.sections.first { after = view.sight(view.grants(on: root)) }
            sight = before.intersection(after)
        }
        let told = outcomes.compactMap { outcome -> Outcome? in
            var told = outcome
            told.cascades = outcome.cascades.filter { cascade in
                let shown = active.views[cascade.table]
                // A table that no rule names is visible to a client that may read the whole record.
                if shown.isEmpty { return view?.seesEverything ?? true }
                return shown.allSatisfy { viewer.view(of: $0.resource)?.seesEverything ?? true }
            }
            guard let sight else { return told }
            guard sight.sections[outcome.section].isGiven else { return nil }
            if let group = outcome.group,
                !sight.reads(group: resource.sections[outcome.section].groups[group], in: outcome.section)
            {
                told.sides = nil
                told.parts = []
            }
            return told
        }
        return EditResult(
            resource: resource, id: id, status: status, record: record, ids: ids, outcomes: told, problem: problem,
            access: EditAccess(sight: sight.flatMap { $0.isAll ? nil : $0 }))
    }
}
