@testable import FieldMergeClient

/// A device for the scheduler, and each event that may happen next.
struct SchedulerWorld: Hashable {
    private(set) var state = SyncPhase.idle
    private var hasUnsent = false
    private var hasMore = false
    private var isFresh = false
    private var hasRequest = false
    private var hasTimer = false
    private var last: Scheduler.Event?
    /// The rule that the last event broke.
    private var broken: String?

    /// The violated rule, if any.
    var fault: String? {
        if let broken { return broken }
        if hasRequest != [.pushing, .pulling].contains(state) { return "a request and the state differ" }
        if state == .idle, hasUnsent { return "an unsent edit rests" }
        if hasTimer != [.waiting, .needsAuth, .needsUpgrade].contains(state) { return "a state would hold for ever" }
        return nil
    }

    /// True if a few events of a network that works bring the device to rest, with nothing unsent.
    var comesToRest: Bool {
        var world = self
        for _ in 0..<12 {
            if world.state == .idle { return !world.hasUnsent }
            world = world.after(world.helpful, leavesUnsent: false, leavesMore: false)
        }
        return false
    }

    private var helpful: Scheduler.Event {
        if hasRequest { return state == .pushing ? .settled : .page }
        return hasTimer ? .timer : .online
    }

    /// The worlds after each possible event.
    var next: [SchedulerWorld] {
        events.flatMap { event in
            [false, true].flatMap { unsent in
                [false, true].map { after(event, leavesUnsent: unsent, leavesMore: $0) }
            }
        }
    }

    /// An answer belongs to a request of its kind.
    private var events: [Scheduler.Event] {
        var events: [Scheduler.Event] = [.edit, .sync, .news, .online, .offline]
        if hasTimer { events.append(.timer) }
        if hasRequest {
            let others: Set<Scheduler.Event> = state == .pulling ? [.settled, .tooLarge, .history] : [.page]
            events += Scheduler.Event.allCases.filter { $0.isAnswer && !others.contains($0) }
        }
        return events
    }

    private func after(_ event: Scheduler.Event, leavesUnsent: Bool, leavesMore: Bool) -> SchedulerWorld {
        var world = self
        if event == .edit { world.hasUnsent = true }
        if event == .settled, !leavesUnsent { world.hasUnsent = false }
        if event == .settled || event == .page { world.hasMore = leavesMore }
        var row = Scheduler.decide(state, event, under: world.conditions(isAgain: event == last))
        if event.isAnswer {
            world.hasRequest = false
            world.last = event
            world.isFresh = isFresh && event == .unauthorized
        }
        if event == .timer { world.hasTimer = false }
        var actions = row.actions
        if actions.contains(.askToken) {
            world.isFresh = true
            row = Scheduler.decide(row.state, .token, under: world.conditions(isAgain: false))
            actions += row.actions
        }
        for action in actions { world.perform(action, in: row.state) }
        world.state = row.state
        return world
    }

    private mutating func perform(_ action: Scheduler.Action, in state: SyncPhase) {
        switch action {
        case .push, .pull:
            if hasRequest { broken = "two requests at once" }
            if state != (action == .push ? .pushing : .pulling) { broken = "a request in another state" }
            hasRequest = true
        case .abort: hasRequest = false
        case .schedule, .scheduleLong: hasTimer = true
        case .cancelTimer: hasTimer = false
        case .note: hasMore = true
        default: break
        }
    }

    private func conditions(isAgain: Bool) -> Set<Scheduler.Condition> {
        let all: [(Scheduler.Condition, Bool)] = [
            (.unsent, hasUnsent), (.more, hasMore), (.again, isAgain), (.fresh, isFresh),
        ]
        return Set(all.filter(\.1).map(\.0))
    }
}
