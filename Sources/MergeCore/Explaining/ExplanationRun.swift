/// One explanation during its run through the sections.
struct ExplanationRun {
    let resource: Resource
    var samples: Sided<SampleRecord?>
    let frozen: Set<Int>
    var outcomes: [ExplainedOutcome] = []
    var isRejected = false

    init(resource: Resource, samples: Sided<SampleRecord?>, frozen: Set<Int> = []) {
        self.frozen = frozen
        self.resource = resource
        self.samples = samples
    }

    mutating func run() throws(RecordFault) {
        let isThere = try mergeRoot()
        // A deleted record takes its other rows along, whatever the client sent about them.
        if samples.edited == nil { return }
        for (index, section) in resource.sections.enumerated().dropFirst() {
            if section.kind == .list {
                try mergeList(index, section, recordIsThere: isThere)
            } else {
                try mergeSingleton(index, section, recordIsThere: isThere)
            }
        }
    }

    var explanation: Explanation {
        guard isRejected else { return explanation(.merged, outcomes: outcomes) }
        // A refused push writes nothing, so the database keeps all its values.
        let standing = outcomes.map { explained in
            var outcome = explained.outcome
            if let sides = outcome.sides { outcome.sides = sides.writing(sides.current) }
            return ExplainedOutcome(outcome: outcome, why: explained.why)
        }
        return explanation(.rejected, outcomes: standing)
    }

    private func explanation(_ status: PushStatus, outcomes: [ExplainedOutcome]) -> Explanation {
        Explanation(resource: resource, status: status, outcomes: outcomes, frozen: frozen)
    }

    /// Merges the root and returns true if the record exists afterwards.
    private mutating func mergeRoot() throws(RecordFault) -> Bool {
        let section = resource.root
        let labels = try samples.map { (side, sample) throws(RecordFault) in
            try SampleKeys(section: section, side: side).label(sample?.id, WirePath("id"))
        }
        if let base = labels.base, let edited = labels.edited, base != edited {
            throw RecordFault(.edited, at: WirePath("id"), reason: "names another record than the base does")
        }
        let meeting = RowMeeting(base: rootMention(samples.base), edited: rootMention(samples.edited))
        var action = try meeting.action(SampleValues(section: section))
        // A base without the root row never conflicts with the deletion.
        if action == nil, samples.edited == nil { action = .delete([]) }
        let current = try currentRoot(labels, action: action)
        guard let action else { return samples.current != nil }
        if samples.current != nil, current == nil { throw missingSection(section) }
        let decision = try decide(0, action: action, meeting: meeting, label: nil, current: current)
        if decision.isRejected { return current != nil }
        switch decision.change {
        case .insert: return true
        case .delete:
            if section.softDelete == nil { try noteRowsThatGoAlong() }
            return false
        case .none, .update: return current != nil
        }
    }

    /// Returns the root row that the edit names.
    ///
    /// If it is another record than the current one, the current record counts as missing.
    private mutating func currentRoot(
        _ labels: Sided<RowLabel?>, action: RowAction?
    ) throws(RecordFault) -> CurrentRow? {
        let section = resource.root
        var row: CurrentRow?
        if let sample = samples.current?.sections[0]?.one {
            row = try CurrentRow(sample, label: labels.current, in: section)
        }
        guard let wanted = labels.edited ?? labels.base, let found = labels.current, wanted != found else { return row }
        guard case .create? = action, section.identity != nil else {
            throw RecordFault(.current, at: WirePath("id"), reason: "names another record than the edit does")
        }
        if let action, let row, row.isMeant(by: action, in: section) { return row }
        samples.current = nil
        return nil
    }

    private func rootMention(_ sample: SampleRecord?) -> RowMeeting.Mention {
        guard let sample else { return .none }
        return sample.sections[0]?.one.map { .row($0) } ?? .unsent
    }

    /// Records the deletion of the other sections' rows along with the record.
    private mutating func noteRowsThatGoAlong() throws(RecordFault) {
        for (index, section) in resource.sections.enumerated().dropFirst() {
            guard let rows = samples.current?.sections[index] else { continue }
            for (label, sample) in try SampleKeys(section: section, side: .current).labelled(rows) {
                let row = try CurrentRow(sample, label: label, in: section)
                var outcome = Outcome(
                    .deleted, section: index, rule: section.softDelete?.rule ?? .default,
                    sides: Sides(base: .null, current: row.shown(section), edited: .null, written: .null))
                outcome.item = label
                note(outcome, .deletionOfRecord)
            }
        }
    }

    func missingSection(_ section: Section) -> RecordFault {
        RecordFault(
            .current, at: WirePath(section.name),
            reason: "is missing; the current record holds every section that the edit touches"
        )
    }
}
