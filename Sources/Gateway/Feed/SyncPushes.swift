import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore

/// The pushes of one sync: each a transaction of its own, and none behind one that may succeed later.
struct SyncPushes {
    private var runner: PushRunner
    private let limits: WireLimits
    private let share: JournalShare
    private let tellsAuthors: Bool
    private let box: RulesBox
    private var earlier = EarlierIDs()
    /// One may succeed later, and those behind it may build on it.
    private var isHeldUp = false
    /// The answers so far.
    private(set) var text = SyncEncoder()
    /// Every push so far was merged.
    private(set) var allMerged = true

    init(runner: PushRunner, box: RulesBox, limits: WireLimits, share: JournalShare, tellsAuthors: Bool) {
        self.box = box
        self.tellsAuthors = tellsAuthors
        self.runner = runner
        self.limits = limits
        self.share = share
    }

    /// Runs a push, or answers what was answered to it before.
    mutating func run(_ push: SyncRequest.SentPush, _ context: GatewayContext) async {
        let created = push.body.withUnsafeBytes {
            PushDecoder(catalog: runner.active.catalog, limits: limits).created(by: $0)
        }
        do {
            guard let (answer, body) = try await answerUnderNewestRules(push, context) else {
                earlier.note(created, answer: nil)
                return refuse(push, Self.notRun)
            }
            text.add(body, code: answer.httpStatus)
            earlier.note(created, answer: body)
            if answer.status != .merged { allMerged = false }
            context.failure.note(answer)
            if answer.result?.problem?.retry?.isLater == true { isHeldUp = true }
        } catch {
            earlier.note(created, answer: nil)
            let failure = Failure(any: error)
            var problem = failure.problem
            if let cause = failure.cause { box.note(cause, of: context) }
            context.failure.note(problem)
            if problem.retry == nil { problem.retry = .never }
            refuse(push, problem)
        }
    }

    private mutating func refuse(_ push: SyncRequest.SentPush, _ problem: Problem) {
        text.add(key: push.key, problem)
        allMerged = false
        if problem.retry?.isLater == true { isHeldUp = true }
    }

    /// nil for a push that is not run.
    private mutating func answerUnderNewestRules(
        _ push: SyncRequest.SentPush, _ context: GatewayContext
    ) async throws -> (PushAnswer, body: [UInt8])? {
        for _ in 1..<RulesBox.mostRuns {
            do {
                return try await answer(push, context)
            } catch {
                let mayRunAgain = await box.mayRunAgain(
                    after: error, under: runner.active, until: context.deadline)
                guard mayRunAgain else { throw error }
                runner = runner.under(try box.ready())
            }
        }
        return try await answer(push, context)
    }

    /// nil for a push that is not run.
    private func answer(
        _ push: SyncRequest.SentPush, _ context: GatewayContext
    ) async throws -> (PushAnswer, body: [UInt8])? {
        let sender = try context.sender
        let decoder = PushDecoder(catalog: runner.active.catalog, limits: limits, after: earlier)
        let decoded = try push.body.withUnsafeBytes { bytes throws(Problem) in
            try decoder.push(bytes, headerKey: nil, sender: context.keyOwner)
        }
        guard decoded.key != nil else {
            throw Problem(
                .invalid, detail: "A push of a sync needs a key, under which it takes effect once.",
                path: WirePath("key"))
        }
        let run = PushRun(
            decoded, of: sender, form: .push, sent: SentRequest(address: "/v1/push", body: push.body),
            tellsAuthors: tellsAuthors)
        if isHeldUp || context.received.caller.hasLeft {
            do {
                return try await runner.known(run, context)
            } catch let failure as Failure where failure.problem.code == .unknownOutcome {
                // Whatever became of it before, it was not run now; what held up the others holds up the journal too.
                return nil
            }
        }
        do {
            try share.check(sender.who, in: runner.active.journal)
        } catch {
            // What was answered once is answered again.
            guard let known = try await runner.known(run, context) else { throw error }
            return known
        }
        return try await runner.answer(run, context)
    }

    private static let notRun = Problem(
        .notRun, detail: "An earlier push may succeed later, and this one may build on it; send both again.",
        retry: .later(.notRun, after: 1))
}
