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
    private let invalid: InvalidPushes
    private var earlier = EarlierIDs()
    private var held = HeldPushes()
    private(set) var text = SyncEncoder()
    /// True if all pushes so far were merged.
    private(set) var allMerged = true

    init(
        runner: PushRunner, box: RulesBox, feed: String?, limits: WireLimits, share: JournalShare,
        invalid: InvalidPushes,
        tellsAuthors: Bool
    ) {
        self.invalid = invalid
        self.box = box
        self.feed = feed
        self.tellsAuthors = tellsAuthors
        self.runner = runner
        self.limits = limits
        self.share = share
    }

    /// Runs a push, or returns its stored answer.
    mutating func run(_ push: SyncRequest.SentPush, _ context: GatewayContext) async {
        var names = PushNames()
        do {
            let ending = try await box.underNewestRules(until: context.deadline) { active in
                let runner = runner.under(active ?? runner.active)
                let read = decoded(push, by: runner, in: context)
                names = read.names
                return try await answer(
                    to: try read.decoded.get(), sent: push.body, naming: names, by: runner, in: context)
            }
            guard let (answer, body) = ending else {
                earlier.noteNoRows(names.created)
                return refuse(push, naming: names, for: Self.notRun)
            }
            text.add(body, code: answer.httpStatus)
            if let result = answer.result {
                earlier.note(names.created, in: result)
            } else {
                earlier.note(names.created, inStored: body)
            }
            if answer.status != .merged { allMerged = false }
            context.failure.note(answer)
            if answer.result?.problem?.retry?.isLater == true { held.holdAll() }
        } catch {
            earlier.noteNoRows(names.created)
            let failure = Failure(any: error)
            var problem = failure.problem
            if let cause = failure.cause { box.note(cause, of: context) }
            context.failure.note(problem)
            if let sender = try? context.sender {
                await invalid.note(
                    problem, of: SentRequest(address: "/v1/push", body: push.body, id: context.received.id), by: sender,
                    in: runner.active.journal)
            }
            if problem.retry == nil { problem.retry = .never }
            refuse(push, naming: names, for: problem)
        }
    }

    private mutating func refuse(_ push: SyncRequest.SentPush, naming names: PushNames, for problem: Problem) {
        text.add(key: push.key, problem)
        allMerged = false
        // The client builds this push again. Later pushes with its temporary ids must wait.
        if problem.code == .historyChanged || problem.code == .rulesChanged { return held.holdIDs(of: names) }
        guard problem.retry?.isLater == true else { return }
        switch problem.code {
        case .notRun: held.hold(after: names, of: [])
        case .resourceUnavailable:
            let resources = names.resources.intersection(box.active?.outOfService ?? [])
            held.hold(after: names, of: resources.isEmpty ? names.resources : resources)
        default: held.holdAll()
        }
    }

    private func decoded(
        _ push: SyncRequest.SentPush, by runner: PushRunner, in context: GatewayContext
    ) -> SyncedPush {
        let sender = context.keyOwner
        let decoder = PushDecoder(catalog: runner.active.catalog, limits: limits, after: earlier)
        return push.body.withUnsafeBytes { decoder.syncedPush($0, sender: sender, syncFeed: feed) }
    }

    /// Returns nil for a push that is not run.
    private func answer(
        to decoded: DecodedPush, sent body: [UInt8], naming names: PushNames, by runner: PushRunner,
        in context: GatewayContext
    ) async throws -> (PushAnswer, body: [UInt8])? {
        let sender = try context.sender
        let run = PushRun(
            decoded, of: sender, form: .push,
            sent: SentRequest(address: "/v1/push", body: body, id: context.received.id),
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
