/// Decides what a client does next: a table of states and events, the same for all client libraries
/// (`Tests/Clients/Cases/scheduler.json`).
///
/// It is pure: it has no state and no effects.
package enum Scheduler {
    /// An event that something may follow from.
    package enum Event: String, Sendable, CaseIterable {
        case edit, sync, news, timer, online, offline, token
        case settled = "answer.settled"
        case page = "answer.page"
        case retry = "answer.retry"
        case lost = "answer.lost"
        case unauthorized = "answer.unauthorized"
        case upgrade = "answer.upgrade"
        case resync = "answer.resync"
        case history = "answer.history"
        case rules = "answer.rules"
        case tooLarge = "answer.tooLarge"
        case close, kill

        /// It is the answer to a request.
        package var isAnswer: Bool { rawValue.hasPrefix("answer.") }
    }

    /// A condition on which a row counts.
    package enum Condition: String, Sendable, CaseIterable {
        case unsent, more, again, fresh
    }

    /// Something to be done.
    package enum Action: String, Sendable {
        case push, pull, readRules, askToken, resnapshot, single, note, schedule, scheduleLong, cancelTimer
        case resetBackoff, abort, keepUp
    }

    /// The actions if its conditions are true.
    package struct Row: Sendable, Hashable {
        /// All of these must be true.
        package let conditions: [Condition]
        /// The next state.
        package let state: SyncPhase
        /// The things to do, in this order.
        package let actions: [Action]

        fileprivate init(_ state: SyncPhase, _ actions: Action..., when conditions: Condition...) {
            self.state = state
            self.actions = actions
            self.conditions = conditions
        }
    }

    /// Returns the rows of a cell; the first row with true conditions applies, and the last row has no conditions.
    package static func rows(_ state: SyncPhase, _ event: Event) -> [Row] {
        if event == .kill { return [Row(.idle)] }
        // An event without a row changes nothing.
        return cell(state, event: event) ?? [Row(state)]
    }

    /// Returns the row of an event.
    package static func decide(_ state: SyncPhase, _ event: Event, under conditions: Set<Condition>) -> Row {
        rows(state, event).first { conditions.isSuperset(of: $0.conditions) } ?? Row(state)
    }

    private static func cell(_ state: SyncPhase, event: Event) -> [Row]? {
        switch state {
        case .idle: idle(event)
        case .pulling: pulling(event)
        case .pushing: pushing(event)
        case .waiting: waiting(event)
        case .offline: offline(event)
        case .needsAuth: needsAuth(event)
        case .needsUpgrade: needsUpgrade(event)
        case .closed: nil
        }
    }

    private static let begin = [Row(.pushing, .push, when: .unsent), Row(.pulling, .pull)]
    private static let beginOnline = [
        Row(.pushing, .resetBackoff, .push, when: .unsent), Row(.pulling, .resetBackoff, .pull),
    ]
    private static let endWait = [
        Row(.pushing, .cancelTimer, .push, when: .unsent), Row(.pulling, .cancelTimer, .pull),
    ]
    private static let askAgain = [
        Row(.pushing, .cancelTimer, .askToken, when: .unsent), Row(.pulling, .cancelTimer, .askToken),
    ]
    private static let takeStock = [
        Row(.pushing, .resetBackoff, .push, when: .unsent), Row(.pulling, .resetBackoff, .pull, when: .more),
        Row(.idle, .resetBackoff, .keepUp),
    ]
    private static let resync = [
        Row(.waiting, .resnapshot, .schedule, when: .again), Row(.pulling, .resetBackoff, .resnapshot, .pull),
    ]

    private static func idle(_ event: Event) -> [Row]? {
        switch event {
        case .edit, .sync, .news: begin
        case .online: beginOnline
        case .offline: [Row(.offline)]
        case .close: [Row(.closed)]
        default: nil
        }
    }

    private static func pulling(_ event: Event) -> [Row]? {
        switch event {
        case .sync, .news: [Row(.pulling, .note)]
        case .online: [Row(.pulling, .resetBackoff)]
        case .offline: [Row(.offline, .abort)]
        case .token: [Row(.pulling, .pull)]
        case .page: takeStock
        case .retry, .lost: [Row(.waiting, .schedule)]
        case .unauthorized: [Row(.needsAuth, .scheduleLong, when: .fresh), Row(.pulling, .askToken)]
        case .upgrade: [Row(.needsUpgrade, .scheduleLong)]
        case .resync: resync
        case .rules:
            [Row(.waiting, .readRules, .schedule, when: .again), Row(.pulling, .resetBackoff, .readRules, .pull)]
        case .close: [Row(.closed, .abort)]
        default: nil
        }
    }

    private static func pushing(_ event: Event) -> [Row]? {
        switch event {
        case .sync, .news: [Row(.pushing, .note)]
        case .online: [Row(.pushing, .resetBackoff)]
        case .offline: [Row(.offline, .abort)]
        case .token: [Row(.pushing, .push)]
        case .settled: takeStock
        case .retry, .lost: [Row(.waiting, .schedule)]
        case .unauthorized: [Row(.needsAuth, .scheduleLong, when: .fresh), Row(.pushing, .askToken)]
        case .upgrade: [Row(.needsUpgrade, .scheduleLong)]
        case .resync, .history: resync
        case .rules:
            [
                Row(.waiting, .readRules, .schedule, when: .again),
                Row(.pushing, .resetBackoff, .readRules, .push, when: .unsent),
                Row(.pulling, .resetBackoff, .readRules, .pull),
            ]
        case .tooLarge: [Row(.pushing, .single, .push)]
        case .close: [Row(.closed, .abort)]
        default: nil
        }
    }

    private static func waiting(_ event: Event) -> [Row]? {
        switch event {
        case .edit, .sync: endWait
        case .news: [Row(.waiting, .note)]
        case .timer: begin
        case .online:
            [
                Row(.pushing, .cancelTimer, .resetBackoff, .push, when: .unsent),
                Row(.pulling, .cancelTimer, .resetBackoff, .pull),
            ]
        case .offline: [Row(.offline, .cancelTimer)]
        case .close: [Row(.closed, .cancelTimer)]
        default: nil
        }
    }

    private static func offline(_ event: Event) -> [Row]? {
        switch event {
        case .sync: begin
        case .news: [Row(.offline, .note)]
        case .online: beginOnline
        case .close: [Row(.closed)]
        default: nil
        }
    }

    private static func needsAuth(_ event: Event) -> [Row]? {
        switch event {
        case .sync, .online: askAgain
        case .news: [Row(.needsAuth, .note)]
        case .timer: [Row(.pushing, .askToken, when: .unsent), Row(.pulling, .askToken)]
        case .token: endWait
        case .close: [Row(.closed, .cancelTimer)]
        default: nil
        }
    }

    private static func needsUpgrade(_ event: Event) -> [Row]? {
        switch event {
        case .sync, .online: endWait
        case .news: [Row(.needsUpgrade, .note)]
        case .timer: begin
        case .close: [Row(.closed, .cancelTimer)]
        default: nil
        }
    }
}
