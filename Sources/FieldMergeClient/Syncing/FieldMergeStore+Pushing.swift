import GRDB

extension FieldMergeStore {
    /// Sends the pushes that wait, and stores the answer.
    func push() async throws -> Scheduler.Event? {
        if let refusal = try await readRulesIfDue() { return refusal }
        await tellHandlers()
        var batch = try await frozen(BatchLimits(isSingle: sync.isSingle, bytes: sync.batchBytes))
        if batch.isEmpty {
            // Only edits of resources whose records have another shape are left.
            if let refusal = try await prepare() { return refusal }
            await tellHandlers()
            batch = try await frozen(BatchLimits(isSingle: sync.isSingle, bytes: sync.batchBytes))
        }
        let pushes = batch.filter { !$0.isKept }
        guard !pushes.isEmpty else { return .settled }
        sync.isNoted = false
        let asked = try await changesRequest()
        let answer = try await answer(to: body(of: batch, asked))
        guard answer.status == 200 || answer.status == 207 else {
            return try await refused(answer, batch, pushes: pushes, namesResources: asked?.resources != nil)
        }
        let page = answer.json
        guard page["results"].arrayValue != nil else { return lost("the answer is not that of a gateway") }
        sync.freshAfter = nil
        sync.isSingle = false
        return try await store(page, for: pushes, asked: asked?.place)
    }

    /// Returns the request for changes of a push; nil if it has none.
    ///
    /// A snapshot brings the records whose shape or filter has changed.
    private func changesRequest() async throws -> ChangesRequest? {
        let isSingle = sync.isSingle
        return try await file.read { ledger in
            let wanted = try ledger.wanted()
            let asksNothing = try isSingle || wanted == [] || ledger.newRules() != nil || ledger.dueDifference() != nil
            guard !asksNothing, let place = try ledger.feedPlace() else { return nil }
            return ChangesRequest(place: place, resources: wanted, filter: try ledger.feedFilter())
        }
    }

    /// Sends pushes of the scheduler; their number follows the success of requests.
    private func answer(to body: [UInt8]) async throws -> WholeAnswer {
        let limit = try await file.read { try $0.rules()?.limits.body ?? 0 }
        do {
            let answer = try await ask("POST", "/v1/sync?by=true", body: body)
            let isLost = answer.status == 408
            if isLost || answer.status < 300 { sync.resizeBatch(isLost: isLost, limit: limit) }
            return answer
        } catch let error as ConnectionLost {
            sync.resizeBatch(isLost: true, limit: limit)
            throw error
        }
    }

    /// Returns the pushes of the next request.
    ///
    /// A push needs no write: if the store cannot be written, its pushes are still sent.
    func frozen(_ limits: BatchLimits) async throws -> [FrozenPush] {
        do {
            return try await write("freeze") { try $0.freeze(limits) }
        } catch let error as DatabaseError where error.isOfDisk {
            var limits = limits
            limits.isStored = false
            let batch = try await file.readAlone { [limits] in try $0.freeze(limits) }
            if batch.isEmpty { throw error }
            return batch
        }
    }

    func body(of batch: [FrozenPush], _ asked: ChangesRequest?) -> [UInt8] {
        var out = Array("{".utf8)
        if let asked {
            out += Array("\"feed\":\(JSONValue.string(asked.place.feed)),\"since\":\(asked.place.revision),".utf8)
            if !asked.filter.isNull { out += Array("\"filter\":\(asked.filter.text),".utf8) }
            if let resources = asked.resources {
                out += Array("\"resources\":\(JSONValue.array(resources.map(JSONValue.string))),".utf8)
            }
        }
        out += Array("\"pushes\":[".utf8)
        for (index, push) in batch.enumerated() {
            if index > 0 { out.append(UInt8(ascii: ",")) }
            out += push.body
        }
        return out + Array("]}".utf8)
    }

    /// Codes of refusals of the request itself, whatever it carries.
    static let notAboutThePush: Set<String> = [
        "strange-host", "strange-origin", "malformed-request", "not-utf8", "unknown-query", "duplicate-query", "http",
    ]

    static var tooLarge: JSONValue {
        ProblemDocument.make("too-large", status: 413, title: "Too large", detail: "The request is too large.")
    }

    /// Returns whether a refusal of a whole request is about its pushes.
    static func isAboutThePushes(_ answer: WholeAnswer) -> Bool {
        // The 413 of a proxy counts as well.
        if answer.status == 413 { return true }
        guard [400, 403, 422].contains(answer.status), let problem = answer.problem else { return false }
        return !notAboutThePush.contains(problem["code"].stringValue ?? "") && problem["retry"] != true
    }

    /// Stores an answer that has no results; returns its event.
    private func refused(
        _ answer: WholeAnswer, _ batch: [FrozenPush], pushes: [FrozenPush], namesResources: Bool
    ) async throws -> Scheduler.Event {
        let problem = answer.problem
        if answer.saysNothingWritten {
            try await write("doubt") { try $0.noteNothingWritten(pushes) }
        }
        if namesResources, sync.lastAnswer != .rules, let event = try await unknownResource(answer) { return event }
        if Self.isAboutThePushes(answer) {
            sync.freshAfter = nil
            guard pushes.count == 1, sync.isSingle, let push = pushes.first else { return .tooLarge }
            if batch.count > pushes.count, try await !file.read({ try $0.isInDoubt() }) {
                // The pushes that have to be repeated before it make the request too large.
                try await write("thaw") { try $0.thaw(push) }
                return .settled
            }
            let told = problem ?? Self.tooLarge
            try await write("refuse") { try $0.storeRefusal(push, told, results: []) }
            sync.report.refused += 1
            sync.lastHadMore = true
            return .settled
        }
        return answer.status == 410 ? .resync : refusal(answer)
    }

    /// Stores the result of each push, and the page after it.
    private func store(_ page: JSONValue, for pushes: [FrozenPush], asked: FeedPlace?) async throws -> Scheduler.Event {
        let tally = try await settle(pushes, by: page)
        sync.report.add(tally.report)
        if tally.isAgain { sync.problem = tally.report.problem }
        let stored = try await storePage(of: page, asked: asked)
        if tally.isOtherHistory { return .history }
        if tally.isAgain { return .retry }
        return try await file.read({ try !$0.meta("rulesDue").isNull }) || tally.needsRules ? .rules : stored
    }

    /// Stores the result of each push.
    func settle(_ pushes: [FrozenPush], by page: JSONValue) async throws -> PushTally {
        let results = page["results"].arrayValue ?? []
        let rules = page["rules"].stringValue
        let byKey = Dictionary(results.map { ($0["key"].stringValue ?? "", $0) }) { first, _ in first }
        var tally = PushTally()
        for push in pushes {
            let result = byKey[push.key] ?? .null
            let told = result["results"].arrayValue ?? []
            switch PushVerdict(result, of: push) {
            case .again:
                tally.isAgain = true
                if [429, 503].contains(result["code"]) {
                    // The gateway has searched for the key, and runs the push when it is sent again.
                    try await write("doubt") { try $0.noteNothingWritten([push]) }
                }
                tally.report.error = "a push has to be sent again"
                tally.report.problem = result["problem"]
            case .withoutTime:
                tally.isAgain = true
                tally.report.error = "a push has to be sent again"
                tally.report.problem = result["problem"]
                try await write("key") { try $0.removeTime(of: push) }
            case .rules:
                tally.needsRules = true
                try await write("thaw") { try $0.thaw(push) }
            case .otherHistory:
                tally.isOtherHistory = true
                try await write("history") { try $0.noteOtherHistory(push) }
            case .settled:
                tally.report.merged += 1
                tally.report.conflicts +=
                    told.flatMap { $0["outcomes"].arrayValue ?? [] }.filter { $0["conflict"] == true }.count
                try await write("settle") { try $0.settle(push, results: told, rules: rules) }
            case .refused(let problem):
                tally.report.refused += 1
                try await write("refuse") { try $0.storeRefusal(push, problem, results: told, rules: rules) }
            }
        }
        return tally
    }

    private func storePage(of told: JSONValue, asked: FeedPlace?) async throws -> Scheduler.Event {
        guard let asked else {
            sync.lastHadMore = true  // no changes were requested
            return .settled
        }
        if told["changes"].isNull {
            if told["problem"]["status"] == 410 { return .resync }
            sync.report.problem = told["problem"]
            sync.lastHadMore = false
            return .settled
        }
        guard let page = ChangesPage(told) else {
            sync.lastHadMore = true
            return .settled
        }
        sync.report.changes += try await write("page") { try $0.storePage(page, asked: asked) }
        sync.lastHadMore = page.hasMore
        return .settled
    }
}

/// The meaning of the answers to the pushes of a request.
struct PushTally {
    var report = SyncReport()
    /// Some push has to be sent again.
    var isAgain = false
    var needsRules = false
    var isOtherHistory = false
}

/// The meaning of an answer to a push.
enum PushVerdict {
    case settled
    case refused(JSONValue)
    /// It is built again when the rules are read.
    case rules
    /// It is built again after a snapshot.
    case otherHistory
    /// It is sent again without its time, which an earlier request did not have.
    case withoutTime
    /// The same bytes are sent again.
    case again

    static let retryCodes: [JSONValue] = [
        "in-progress", "not-run", "busy", "over-rate", "over-journal", "unknown-outcome",
    ]

    init(_ result: JSONValue, of push: FrozenPush) {
        let status = result["status"]
        let results = result["results"].arrayValue ?? []
        if [.string("merged"), .string("partial")].contains(status), !results.isEmpty {
            self = .settled
            return
        }
        let problems = ([result["problem"]] + results.map { $0["problem"] }).filter { !$0.isNull }
        if problems.contains(where: { $0["code"] == "rules-changed" }) {
            self = .rules
        } else if problems.contains(where: { $0["code"] == "history-changed" }) {
            self = .otherHistory
        } else if problems.contains(where: { $0["code"] == "key-reused" }) {
            // Edits were added to a push without a time after it was sent.
            let isTimed = JSONValue(bytes: push.body)?["sent"].isNull == false
            self = isTimed ? .withoutTime : .refused(ProblemDocument.outcomeUnknown)
        } else if problems.contains(where: { $0["retry"] == true || Self.retryCodes.contains($0["code"]) })
            || [429, 503, 504].contains(result["code"])
        {
            self = .again
        } else if status == "rejected" || [400, 403, 413].contains(result["code"])
            || problems.contains(where: { $0["retry"] == false })
        {
            self = .refused(problems.first ?? ["code": "refused", "title": "Refused", "retry": false])
        } else {
            self = .again
        }
    }
}
