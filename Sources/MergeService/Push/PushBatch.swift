import MergeCore
import RecordStore

/// A push that is to be merged, with what it is merged under.
final class PushItem: Sendable {
    let request: PushRequest
    let plan: PushPlan
    let active: ActiveRules
    let deadline: ContinuousClock.Instant
    /// The time that the database has for it.
    let patience: Patience
    /// Edits that are refused whatever the database holds, by their positions.
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

    /// Its time is over, or nobody waits for it any more.
    var isOverdue: Bool { deadline <= .now || request.caller.hasLeft }
}

/// Pushes that share one transaction; mostly one.
struct PushBatch: Sendable {
    /// The rules of all pushes: pushes under other rules never share a transaction.
    let active: ActiveRules
    let items: [PushItem]
    /// The edits of all pushes, each push's in its order.
    let plan: PushPlan
    /// The positions of each push's edits in the plan.
    let ranges: [Range<Int>]
    /// The push of each edit of the plan.
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

    /// None of the pushes may do what the others would have to pay for.
    var isShared: Bool { items.count > 1 }
}

/// The end of one push.
enum PushEnding: Sendable {
    /// It is merged, or would be.
    case merged(PushAnswer)
    /// Nothing of it is written, for reasons that its reports tell.
    case refused([EditReport])
    /// It could not be run at all: a fault of the request that only the database could show.
    indirect case fault(Problem)
}

extension Push {
    /// The edits that a client may not make, as far as their names tell.
    fileprivate func refusals(of viewer: Viewer) -> [Int: Problem] {
        var refusals: [Int: Problem] = [:]
        for (index, edit) in edits.enumerated() {
            guard let view = viewer.view(of: edit.resource) else { continue }
            do throws(Problem) { try view.check(edit) } catch { refusals[index] = error }
        }
        return refusals
    }
}
