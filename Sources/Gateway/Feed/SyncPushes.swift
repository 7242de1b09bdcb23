import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore

/// Runs the pushes of one sync, each in its own transaction.
struct SyncPushes {
    private let runner: PushRunner
    private let feed: String?
    private let limits: WireLimits
    private let share: JournalShare
    private let tellsAuthors: Bool
    private let box: RulesBox
    private var earlier = EarlierIDs()
    private var held = HeldPushes()
    private(set) var text = SyncEncoder()
    /// True if all pushes so far were merged.
    private(set) var allMerged = true

    init(runner: PushRunner, box: RulesBox, feed: String?, limits: WireLimits, share: JournalShare, tellsAuthors: Bool)
    {
        self.box = box
        self.feed = feed
        self.tellsAuthors = tellsAuthors
        self.runner = runner
        self.limits = limits
        self.share = share
    }

    /// Runs a push, or returns its stored answer.
    mutating func run(_ push: SyncRequest.SentPush, _ context: GatewayContext) async {
        let active = box.active ?? runner.active
        let names = push.body.withUnsafeBytes {
            PushDecoder(catalog: active.catalog, limits: limits).names(in: $0)
        }
        do {
            let ending = try await box.underNewestRules(until: context.deadline) { active in
                try await answer(push, naming: names, by: runner.under(active ?? runner.active), context)
            }
            guard let (answer, body) = ending else {
                earlier.note(names.created, answer: nil)
                return refuse(push, naming: names, for: Self.notRun)
            }
            text.add(body, code: answer.httpStatus)
            earlier.note(names.created, answer: body)
            if answer.status != .merged { allMerged = false }
            context.failure.note(answer)
            if answer.result?.problem?.retry?.isLater == true { held.holdAll() }
        } catch {
            earlier.note(names.created, answer: nil)
            let failure = Failure(any: error)
            var problem = failure.problem
            if let cause = failure.cause { box.note(cause, of: context) }
            context.failure.note(problem)
            if problem.retry == nil { problem.retry = .never }
            refuse(push, naming: names, for: problem)
        }
    }

    private mutating func refuse(_ push: SyncRequest.SentPush, naming names: PushNames, for problem: Problem) {
        text.add(key: push.key, problem)
        allMerged = false
        // The client builds this push again. Later pushes with its temporary ids must wait.
        if problem.code == .historyChanged { return held.holdIDs(of: names) }
        guard problem.retry?.isLater == true else { return }
        switch problem.code {
        case .notRun: held.hold(after: names, of: [])
        case .resourceUnavailable:
            let resources = names.resources.intersection(box.active?.outOfService ?? [])
            held.hold(after: names, of: resources.isEmpty ? names.resources : resources)
        default: held.holdAll()
        }
    }

    /// Returns nil for a push that is not run.
    private func answer(
        _ push: SyncRequest.SentPush, naming names: PushNames, by runner: PushRunner, _ context: GatewayContext
    ) async throws -> (PushAnswer, body: [UInt8])? {
        let sender = try context.sender
        let decoder = PushDecoder(catalog: runner.active.catalog, limits: limits, after: earlier)
        let decoded = try push.body.withUnsafeBytes { bytes throws(Problem) in
            try decoder.push(bytes, headerKey: nil, sender: context.keyOwner, syncFeed: feed)
        }
        guard decoded.key != nil else {
            throw Problem(
                .invalid, detail: "A push of a sync needs a key.",
                path: WirePath("key"))
        }
        let run = PushRun(
            decoded, of: sender, form: .push,
            sent: SentRequest(address: "/v1/push", body: push.body, id: context.received.id),
            tellsAuthors: tellsAuthors)
        if held.holds(names) || context.received.caller.hasLeft {
            do {
                return try await runner.known(run, context)
            } catch let failure as Failure where [.unknownOutcome, .cannotWrite].contains(failure.problem.code) {
                // The push was not run now. The fault that delays other pushes also affects the journal.
                return nil
            }
        }
        do {
            try share.check(sender.who, in: runner.active.journal)
        } catch {
            // A stored answer is returned even if the share of the journal is used up.
            guard let known = try await runner.known(run, context) else { throw error }
            return known
        }
        return try await runner.answer(run, context)
    }

    private static let notRun = Problem(
        .notRun, detail: "An earlier push may succeed later, and this push may depend on it. Send both again.",
        retry: .later(.notRun, after: 1))
}
