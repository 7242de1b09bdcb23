import ChangeFeed
import MergeCore
import MergeService
import MergeWire
import Operations
import RecordStore

final class PushRun: Sendable {
    let decoded: DecodedPush
    let sender: Sender
    let form: AnswerForm
    let sent: SentRequest
    let isPreview: Bool
    /// Conflicts name the author of the other change.
    let tellsAuthors: Bool

    init(
        _ decoded: DecodedPush, of sender: Sender, form: AnswerForm, sent: SentRequest, isPreview: Bool = false,
        tellsAuthors: Bool
    ) {
        self.decoded = decoded
        self.sender = sender
        self.form = form
        self.sent = sent
        self.isPreview = isPreview
        self.tellsAuthors = tellsAuthors
    }

    /// The edits that the rate limits: at least 1, so that refused pushes are charged too.
    var editCount: Int { (try? decoded.push.get().edits.count).map { max(1, $0) } ?? 1 }

    /// The idempotency key; nil for a preview.
    var key: PushKey? {
        isPreview ? nil : decoded.key.map { PushKey(text: $0.text, name: $0.name, request: $0.fingerprint) }
    }
}

/// Runs pushes of all addresses.
struct PushRunner: Sendable {
    let service: MergeService
    let maintenance: Maintenance
    let active: ActiveRules
    let metrics: GatewayMetrics
    let rates: ClientRates
    let delivery: ResultDelivery

    func under(_ active: ActiveRules) -> PushRunner {
        PushRunner(
            service: service, maintenance: maintenance, active: active, metrics: metrics, rates: rates,
            delivery: delivery)
    }

    /// Runs a push within the rates of its client, or returns its stored answer.
    ///
    /// - Returns: the answer, and its body with the private values that the journal stores as digests.
    func answer(_ run: PushRun, _ context: GatewayContext) async throws -> (PushAnswer, body: [UInt8]) {
        try rates.edits(run.editCount, of: context.keyOwner)
        try rates.beginPush(of: context.keyOwner)
        defer { rates.endPush(of: context.keyOwner) }
        let answer = try await service.keyed.answer(under: run.key, active: active, deadline: context.deadline) {
            () async throws(Failure) in
            let history = try await history(of: run.decoded.origin)
            if run.decoded.origin.hasBase, let problem = history?.problem(ofFeed: run.decoded.origin.feed) {
                throw Failure(problem)
            }
            let push: Push
            switch run.decoded.push {
            case .success(let sound): push = sound
            // Thrown only here, so that a stored answer is returned even after a change of the rules.
            case .failure(let problem):
                throw Failure(problem.told(to: context.access(to: active.catalog), of: active.catalog))
            }
            do throws(Problem) {
                try active.journal?.checkLength(ofBody: run.sent.body.count)
                // Checked before the merge, because a merged push must be answered.
                try context.hold(service.length(ofRecordsIn: push))
            } catch {
                throw Failure(error)
            }
            let request = PushRequest(
                push: run.isPreview ? Push(key: nil, atomicity: push.atomicity, edits: push.edits) : push,
                form: run.form, sender: run.sender, purpose: run.isPreview ? .preview : .apply(run.key),
                sent: run.sent, caller: context.received.caller, tellsAuthors: run.tellsAuthors,
                access: context.access(to: active.catalog), claims: context.bearer?.claims ?? AccessClaims())
            return try await maintenance.run(failingWith: { Failure($0) }) { () async throws(Failure) in
                // A push without edits does nothing, whenever it was sent.
                if run.key != nil, !request.push.edits.isEmpty,
                    let problem = history?.problem(ofKeySent: run.decoded.origin.sent)
                {
                    return try await service.refuse(
                        request, for: problem, active: active, deadline: context.deadline)
                }
                return try await service.merge(request, active: active, deadline: context.deadline)
            }
        }
        if let result = answer.result, !run.isPreview {
            metrics.count(result)
            if result.showsUnchanged {
                await context.working(on: answer.body.count) {
                    await delivery.note(
                        result, under: active, for: context.access(to: active.catalog), context.deadline)
                }
            }
        }
        if !answer.isReplay { return (answer, answer.body) }
        return (answer, try await toldAgain(answer, to: run, in: context))
    }

    /// Returns the current history; nil if the push names none or the journal is off.
    private func history(of origin: PushOrigin) async throws(Failure) -> PushHistory? {
        if origin.feed == nil, origin.sent == nil { return nil }
        do throws(StoreError) {
            return try await delivery.feed.history(named: origin.feed)
        } catch {
            throw Failure(any: error)
        }
    }

    /// Returns the stored answer of a push, or nil.
    func known(_ run: PushRun, _ context: GatewayContext) async throws -> (PushAnswer, body: [UInt8])? {
        guard let key = run.key,
            let answer = try await service.keyed.known(under: key, active: active, deadline: context.deadline)
        else { return nil }
        return (answer, try await toldAgain(answer, to: run, in: context))
    }

    private func toldAgain(_ answer: PushAnswer, to run: PushRun, in context: GatewayContext) async throws -> [UInt8] {
        try await context.working(on: answer.body.count) {
            let access = context.access(to: active.catalog)
            let body = try await ReplayedAnswer(
                service: service, active: active, access: access, deadline: context.deadline
            )
            .body(answer, to: run.sent.body, at: run.sent.address)
            await delivery.note(answerAgain: body, under: active, for: access, context.deadline)
            return body
        }
    }
}

extension Problem {
    /// Removes names that may be hidden from the client.
    fileprivate func told(to access: ClientAccess?, of catalog: Catalog) -> Problem {
        let names: [ProblemCode] = [.unknownResource, .unknownSection, .unknownGroup, .unknownField, .incompleteGroup]
        guard let access, names.contains(code), !access.viewer.readsEveryField(of: catalog) else { return self }
        var problem = self
        problem.detail = "The rules for this client have no such name, or the group needs further fields."
        return problem
    }
}

extension Viewer {
    /// Returns true if no name of the rules is hidden from the client.
    fileprivate func readsEveryField(of catalog: Catalog) -> Bool {
        catalog.resources.allSatisfy { view(of: $0)?.readsEveryField ?? true }
    }
}
