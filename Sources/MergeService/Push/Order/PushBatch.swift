import MergeCore
import RecordStore

final class PushItem: Sendable {
    let request: PushRequest
    let plan: PushPlan
    let active: ActiveRules
    let deadline: ContinuousClock.Instant
    let patience: Patience
    /// Problems of edits that are refused in any state of the database, by position.
    let refusals: [Int: Problem]

    init(_ request: PushRequest, plan: PushPlan, active: ActiveRules, deadline: ContinuousClock.Instant) {
        self.request = request
        self.plan = plan
        self.active = active
        self.deadline = deadline
        patience = Patience(until: deadline)
        var refusals = request.access.map { request.push.refusals(of: $0.viewer) } ?? [:]
        for index in plan.orphans {
            refusals[index] = Problem(
                .dependsOnRefused, detail: "An earlier push of the request, which would have created it, was refused.",
                path: plan.push.edits[index].path, retry: .never)
        }
        self.refusals = refusals
    }

    /// True if the deadline has passed or the caller has disconnected.
    var isOverdue: Bool { deadline <= .now || request.caller.hasLeft }
}

/// Pushes that share one transaction; usually one.
struct PushBatch: Sendable {
    /// The rules of all pushes; pushes under different rules never share a transaction.
    let active: ActiveRules
    let items: [PushItem]
    /// The edits of all pushes, in the order of each push.
    let plan: PushPlan
    let ranges: [Range<Int>]
    let owners: [Int]

    init(_ items: [PushItem]) {
        let active = items[0].active
        precondition(
            items.allSatisfy { $0.active === active }, "All pushes of a batch run under the same ActiveRules object.")
        self.active = active
        self.items = items
        plan = items.count == 1 ? items[0].plan : PushPlan(joining: items.map(\.plan))
        var ranges: [Range<Int>] = []
        var owners: [Int] = []
        for (number, item) in items.enumerated() {
            ranges.append(owners.count..<owners.count + item.request.push.edits.count)
            owners += repeatElement(number, count: item.request.push.edits.count)
        }
        self.ranges = ranges
        self.owners = owners
    }

    var isShared: Bool { items.count > 1 }
}

/// The end of a push in a transaction.
enum PushOutcome: Sendable {
    /// The push is merged, or would be in a preview.
    case merged(PushAnswer)
    /// The push writes nothing, for reasons in its reports.
    case refused([EditReport])
    /// The push cannot run: a request error that only the database could show.
    indirect case fault(Problem)
    /// The run has written nothing. The push runs again alone, in this mode.
    case runAgain(RunMode)
}

extension Push {
    fileprivate func refusals(of viewer: Viewer) -> [Int: Problem] {
        var refusals: [Int: Problem] = [:]
        for (index, edit) in edits.enumerated() {
            guard let view = viewer.view(of: edit.resource) else { continue }
            do throws(Problem) { try view.check(edit) } catch { refusals[index] = error }
        }
        return refusals
    }
}
