import MergeCore

/// Makes the answer out of what a push came to and the records that stand now.
///
/// Pure.
struct ResultAssembly {
    let push: Push
    let reports: [EditReport]
    let wasRolledBack: Bool

    func result(_ records: [Record?]) -> PushResult {
        let results = zip(reports.indices, records).map { index, record in result(index, record) }
        return PushResult(key: push.key, status: status(results), results: results)
    }

    private func status(_ results: [EditResult]) -> PushStatus {
        guard !wasRolledBack else {
            if push.atomicity == .edit { return results.first?.status ?? .merged }
            return reports.contains { $0.problem != nil } ? .failed : .rejected
        }
        return results.allSatisfy { $0.status == .merged } ? .merged : .partial
    }

    private func result(_ index: Int, _ record: Record?) -> EditResult {
        let report = reports[index]
        var problem = report.problem
        let status: PushStatus
        if report.problem != nil {
            status = .failed
        } else if report.isRejected {
            status = .rejected
            problem = rejection
        } else if wasRolledBack {
            (status, problem) = rolledBack
        } else {
            status = .merged
        }
        return EditResult(
            resource: report.resource, id: label(report, record, status), status: status, record: record,
            ids: status == .merged ? report.ids : nil,
            outcomes: report.outcomes.map { Self.settled($0, report.resource, record) }, problem: problem)
    }

    private func label(_ report: EditReport, _ record: Record?, _ status: PushStatus) -> RowLabel? {
        if status != .merged, case .temporary? = report.sent { return report.sent }
        return report.key.map { .key($0) } ?? report.sent
    }

    private var rejection: Problem {
        Problem(
            status: 409, code: "rejected", title: "Rejected by the rules",
            detail: "A conflict meets a group or section whose policy is reject.", retry: false)
    }

    /// What is told to an edit that was in order itself.
    private var rolledBack: (PushStatus, Problem) {
        let culprit = reports.firstIndex { !$0.isMerged } ?? 0
        let hasFailed = reports.contains { $0.problem != nil }
        return (
            hasFailed ? .failed : .rejected,
            Problem(
                status: hasFailed ? 422 : 409, code: Problem.rolledBack, title: "Taken back with the push",
                detail: "edits[\(culprit)] was refused, and a push is applied whole or not at all.", retry: false)
        )
    }

    /// An outcome with what stands now, which triggers may have changed after the decision.
    private static func settled(_ outcome: Outcome, _ resource: Resource, _ record: Record?) -> Outcome {
        guard let sides = outcome.sides else { return outcome }
        var settled = outcome
        let standing = record.flatMap { row(of: outcome, resource, $0) }
        if let standing, let group = outcome.group {
            let values = resource.sections[outcome.section].values(of: group, in: standing)
            // Mostly what was decided is what stands.
            if case .group(let written) = sides.written, written == values { return outcome }
            settled.sides = sides.writing(.group(values))
        } else {
            settled.sides = sides.writing(standing.map { .row($0) } ?? .null)
        }
        return settled
    }

    private static func row(of outcome: Outcome, _ resource: Resource, _ record: Record) -> [Value]? {
        switch record.sections[outcome.section] {
        case .one(let row): return row
        case .many(let rows):
            guard case .key(let key)? = outcome.item else { return nil }
            return rows.first { resource.sections[outcome.section].key(of: $0) == key }
        }
    }
}
