extension FieldMergeStore {
    /// Sends the pushes that wait, and stores the answer.
    func push() async throws -> Scheduler.Event? {
        if let refusal = try await prepare() { return refusal }
        let isSingle = sync.isSingle
        let batch = try await write("freeze") { try $0.freeze(isSingle: isSingle) }
        let pushes = batch.filter { !$0.isKept }
        guard !pushes.isEmpty else { return .settled }
        sync.isNoted = false
        let wanted = try await file.read { try $0.wanted() }
        let asked = isSingle || wanted == [] ? nil : try await file.read { try $0.feedPlace() }
        let answer = try await ask("POST", "/v1/sync?by=true", body: body(of: batch, asked, wanted))
        guard answer.status == 200 || answer.status == 207 else {
            return try await refused(answer, batch, pushes: pushes, namesResources: asked != nil && wanted != nil)
        }
        let page = answer.json
        guard page["results"].arrayValue != nil else { return lost("the answer is not that of a gateway") }
        sync.freshAfter = nil
        sync.isSingle = false
        return try await store(page, for: pushes, asked: asked)
    }

    private func body(of batch: [FrozenPush], _ asked: FeedPlace?, _ wanted: [String]?) -> [UInt8] {
        var out = Array("{".utf8)
        if let asked {
            out += Array("\"feed\":\(JSONValue.string(asked.feed)),\"since\":\(asked.revision),".utf8)
            if let resources = wanted {
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
    private static let notAboutThePush: Set<String> = [
        "strange-host", "strange-origin", "malformed-request", "unknown-query", "duplicate-query",
    ]

    /// Stores an answer that has no results; returns its event.
    private func refused(
        _ answer: WholeAnswer, _ batch: [FrozenPush], pushes: [FrozenPush], namesResources: Bool
    ) async throws -> Scheduler.Event {
        let problem = answer.problem
        let saysNothingWritten =
            [401, 426, 429, 503].contains(answer.status)
            || ([400, 403, 413, 422].contains(answer.status) && problem != nil)
        if saysNothingWritten {
            try await write("doubt") { try $0.noteNothingWritten(pushes.map(\.number)) }
        }
        if namesResources, sync.lastAnswer != .rules, let event = try await unknownResource(answer) { return event }
        let isKnown =
            problem.map {
                !Self.notAboutThePush.contains($0["code"].stringValue ?? "") && $0["retry"] != true
            } ?? false
        // A proxy's 413 counts as well: it is about the length, whoever says so.
        if answer.status == 413 || ([400, 403, 422].contains(answer.status) && isKnown) {
            sync.freshAfter = nil
            guard pushes.count == 1, sync.isSingle, let push = pushes.first else { return .tooLarge }
            if batch.count > pushes.count, try await !file.read({ try $0.isInDoubt() }) {
                // Not this one alone is too large, but what has to be repeated before it.
                try await write("thaw") { try $0.thaw(push.number) }
                return .settled
            }
            let told =
                problem
                ?? ProblemDocument.make(
                    "too-large", status: 413, title: "Too large", detail: "The request is too large.")
            try await write("refuse") { try $0.storeRefusal(push.number, told, results: []) }
            sync.report.refused += 1
            sync.lastHadMore = true
            return .settled
        }
        return answer.status == 410 ? .resync : refusal(answer)
    }

    /// Stores what became of each push, and the page behind it.
    private func store(_ page: JSONValue, for pushes: [FrozenPush], asked: FeedPlace?) async throws -> Scheduler.Event {
        let results = page["results"].arrayValue ?? []
        let byKey = Dictionary(results.map { ($0["key"].stringValue ?? "", $0) }) { first, _ in first }
        var isAgain = false
        var needsRules = false
        var isOtherHistory = false
        for push in pushes {
            let result = byKey[push.key] ?? .null
            switch PushVerdict(result) {
            case .again:
                isAgain = true
                if [429, 503].contains(result["code"]) {
                    // The gateway has looked the key up, and runs the push when it comes again.
                    try await write("doubt") { try $0.noteNothingWritten([push.number]) }
                }
                sync.problem = result["problem"]
                sync.report.problem = result["problem"]
            case .rules:
                needsRules = true
                try await write("thaw") { try $0.thaw(push.number) }
            case .otherHistory:
                isOtherHistory = true
                try await write("history") { try $0.noteOtherHistory(push.number) }
            case .settled:
                let told = result["results"].arrayValue ?? []
                sync.report.merged += 1
                sync.report.conflicts +=
                    told.flatMap { $0["outcomes"].arrayValue ?? [] }.filter { $0["conflict"] == true }.count
                try await write("settle") { try $0.settle(push.number, results: told) }
            case .refused(let problem):
                sync.report.refused += 1
                let told = result["results"].arrayValue ?? []
                try await write("refuse") { try $0.storeRefusal(push.number, problem, results: told) }
            }
        }
        let stored = try await storePage(of: page, asked: asked)
        if isOtherHistory { return .history }
        if isAgain {
            sync.report.error = sync.report.error ?? "a push has to be sent again"
            return .retry
        }
        return try await file.read({ try !$0.meta("rulesDue").isNull }) || needsRules ? .rules : stored
    }

    private func storePage(of told: JSONValue, asked: FeedPlace?) async throws -> Scheduler.Event {
        guard let asked else {
            sync.lastHadMore = true  // nothing was asked for
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

/// The meaning of an answer to a push.
enum PushVerdict {
    case settled
    case refused(JSONValue)
    /// It is built anew once the rules are read.
    case rules
    /// It is built again behind a snapshot.
    case otherHistory
    /// The same bytes are sent again.
    case again

    private static let retryCodes: [JSONValue] = [
        "in-progress", "not-run", "busy", "over-rate", "over-journal", "unknown-outcome",
    ]

    init(_ result: JSONValue) {
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
