/// Merges the sections other than the root.
extension ExplanationRun {
    mutating func mergeSingleton(_ index: Int, _ section: Section, recordIsThere: Bool) throws(RecordFault) {
        let meeting = RowMeeting(
            base: mention(samples.base, index: index), edited: mention(samples.edited, index: index))
        guard let action = try meeting.action(SampleValues(section: section)) else { return }
        var current: CurrentRow?
        if let row = try currentRows(index, recordIsThere: recordIsThere)?.one {
            current = try CurrentRow(row, label: nil, in: section)
        }
        _ = try decide(
            index, action: action, meeting: meeting, label: nil, current: current, recordIsThere: recordIsThere)
    }

    private func mention(_ sample: SampleRecord?, index: Int) -> RowMeeting.Mention {
        guard let sample else { return .none }
        return sample.sections[index].map { RowMeeting.Mention($0.one) } ?? .unsent
    }

    mutating func mergeList(_ index: Int, _ section: Section, recordIsThere: Bool) throws(RecordFault) {
        let meetings = try self.meetings(index, of: section)
        if meetings.isEmpty { return }
        var currents: [CurrentRow] = []
        if let rows = try currentRows(index, recordIsThere: recordIsThere) {
            for (label, row) in try SampleKeys(section: section, side: .current).labelled(rows) {
                currents.append(try CurrentRow(row, label: label, in: section))
            }
        }
        for (label, meeting) in meetings {
            guard let action = try meeting.action(SampleValues(section: section)) else { continue }
            let current =
                currents.first { label != nil && $0.label == label }
                ?? currents.first { $0.isMeant(by: action, in: section) }
            _ = try decide(
                index, action: action, meeting: meeting, label: current?.label ?? label, current: current,
                recordIsThere: recordIsThere)
        }
    }

    /// Returns the client's items: those of the base, then the new ones.
    ///
    /// The result is empty if the client omitted the section.
    private func meetings(
        _ index: Int, of section: Section
    ) throws(RecordFault) -> [(label: RowLabel?, meeting: RowMeeting)] {
        guard let edited = samples.edited?.sections[index] else { return [] }
        let edits = try SampleKeys(section: section, side: .edited).labelled(edited)
        var bases: [(label: RowLabel?, row: SampleRow)] = []
        if let base = samples.base {
            guard let rows = base.sections[index] else { return [] }
            bases = try SampleKeys(section: section, side: .base).labelled(rows)
        }
        var meetings: [(label: RowLabel?, meeting: RowMeeting)] = []
        for (label, row) in bases {
            let wanted = edits.first { $0.label == label }?.row
            meetings.append((label, RowMeeting(base: .row(row), edited: RowMeeting.Mention(wanted))))
        }
        for (label, row) in edits where label == nil || !bases.contains(where: { $0.label == label }) {
            meetings.append((label, RowMeeting(base: .none, edited: .row(row))))
        }
        return meetings
    }

    /// Returns the current rows, or nil if the record does not exist.
    private func currentRows(_ index: Int, recordIsThere: Bool) throws(RecordFault) -> SampleRows? {
        guard recordIsThere, let record = samples.current else { return nil }
        guard let rows = record.sections[index] else { throw missingSection(resource.sections[index]) }
        return rows
    }
}
