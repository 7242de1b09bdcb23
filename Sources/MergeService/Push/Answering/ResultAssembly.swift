import MergeCore

/// Builds the result of a push from its reports and the current records, without I/O.
struct ResultAssembly {
    let push: Push
    let reports: ArraySlice<EditReport>
    let wasRolledBack: Bool
    /// Outcomes that keep the value which they wrote themselves.
    var repeated: RepeatedWrites?

    func result(_ records: ArraySlice<ReadRecord?>) -> PushResult {
        let results = zip(reports.indices, records).map { index, record in result(index, record) }
        return PushResult(key: push.key, status: status(results), results: results)
    }

    private func status(_ results: [EditResult]) -> PushStatus {
        guard !wasRolledBack else {
            if push.atomicity == .edit { return results.first?.status ?? .merged }
            // If a policy rejects one edit and the database refuses another, the rejection counts.
            return reports.contains(where: \.isRejected) ? .rejected : .failed
        }
        return results.allSatisfy { $0.status == .merged } ? .merged : .partial
    }

    private func result(_ index: Int, _ read: ReadRecord?) -> EditResult {
        let record = read?.readable
        // The report is read in place, because a copy would increment the reference count of each part.
        var problem = reports[index].problem
        let status: PushStatus
        if problem != nil {
            status = .failed
        } else if reports[index].isRejected {
            status = .rejected
            problem = rejection(of: index)
        } else if wasRolledBack {
            (status, problem) = rolledBack
        } else {
            status = .merged
            problem = read?.problem
        }
        let resource = reports[index].resource
        var outcomes = reports[index].outcomes
        var rows = record.map { RecordRows($0, resource) }
        if case .unreadable? = read {
            // The record's values cannot be decoded, so the decided values count.
            for position in outcomes.indices where status != .merged {
                outcomes[position].sides = outcomes[position].sides.map { $0.writing($0.current) }
            }
        }
        for position in outcomes.indices where read?.problem == nil {
            if repeated?.contains(position, of: index) == true { continue }
            if let sides = Self.standing(outcomes[position], of: resource, in: &rows, reports[index].moved) {
                outcomes[position].sides = sides
            }
        }
        var conditions = reports[index].conditions.map { [$0] } ?? []
        if let now = read?.conditions(of: resource), !conditions.contains(now) { conditions.append(now) }
        return EditResult(
            resource: resource, id: label(index, status: status), status: status, record: record,
            ids: status == .merged ? reports[index].ids : nil, outcomes: outcomes, problem: problem,
            access: EditAccess(conditions: conditions))
    }

    private func label(_ index: Int, status: PushStatus) -> RowLabel? {
        let sent = reports[index].sent
        // A refused creation has no row, even if it met an existing row.
        if status != .merged, let sent { return sent }
        return reports[index].key.map { .key($0) } ?? sent
    }

    private func rejection(of report: Int) -> Problem {
        let rejected = reports[report].outcomes.first { $0.kind == .rejected }
        guard let rejected, let kind = rejected.guardKind else {
            return Problem(
                .rejected, detail: "A conflict in a group or section with the policy “reject”.", retry: .never)
        }
        let section = reports[report].resource.sections[rejected.section]
        let group = rejected.group.map { "“\(section.groups[$0].name)” of “\(section.name)”" }
        let sentence =
            switch kind {
            case .frozen:
                group.map { "The row is frozen, so \($0) cannot be written" }
                    ?? "The row of “\(section.name)”, or a row that would go with it, is frozen and cannot be deleted"
            case .transitions: "\(group ?? "A group") may not change from its current value to the value that was sent"
            }
        var problem = Problem(
            .rejected, detail: "\(sentence): “\(kind.rawValue)”, \(rejected.rule).", retry: .never)
        problem.rule = rejected.rule
        return problem
    }

    /// The status and problem of a correct edit in a push that was rolled back.
    private var rolledBack: (PushStatus, Problem) {
        let hasFailed = !reports.contains(where: \.isRejected)
        let culprit =
            (hasFailed ? reports.firstIndex { !$0.isMerged } : reports.firstIndex(where: \.isRejected))
            .map { $0 - reports.startIndex } ?? 0
        return (
            hasFailed ? .failed : .rejected,
            Problem(
                .rolledBack, about: hasFailed ? nil : .rejection,
                detail: "edits[\(culprit)] was refused, so the whole push was rolled back.", retry: .never)
        )
    }

    /// Returns an outcome's sides with the current values, which triggers may have changed; nil if they are unchanged.
    ///
    /// - Parameter moved: items that are not in the record any more.
    private static func standing(
        _ outcome: Outcome, of resource: Resource, in rows: inout RecordRows?, _ moved: [EntryRow: [Value]]
    ) -> Sides? {
        guard let sides = outcome.sides else { return nil }
        let item: RecordKey? = if case .key(let key)? = outcome.item { key } else { nil }
        let standing = rows?.row(outcome.section, item) ?? moved[EntryRow(section: outcome.section, key: item)]
        guard let standing, let group = outcome.group else {
            return sides.writing(standing.map { .row($0) } ?? .null)
        }
        let section = resource.sections[outcome.section]
        if case .group(let written) = sides.written, section.holds(written, of: group, in: standing) { return nil }
        return sides.writing(.group(section.values(of: group, in: standing)))
    }
}
