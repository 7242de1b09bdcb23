extension FieldMergeStore {
    /// Reads the rules and the records of resources with another shape, before anything is built or read.
    ///
    /// - Returns: the event of an answer that prevents this; nil when the gateway's rules are active.
    func prepare() async throws -> Scheduler.Event? {
        for _ in 0..<3 {
            if let refusal = try await readRulesIfDue() { return refusal }
            let (isWaiting, isWhole) = try await file.read { ledger in
                (try ledger.newRules() != nil, try ledger.feedPlace() == nil || !ledger.meta("resnapshot").isNull)
            }
            guard isWaiting else { return nil }
            let event = try await snapshot(isWhole ? .snapshot : .reshape)
            guard event == .page || event == .rules else { return event }
        }
        return try await file.read { try $0.newRules() } == nil ? nil : lost("the rules change too often")
    }

    /// Reads the rules if they are unknown or may have changed; returns the event of an answer without rules.
    func readRulesIfDue() async throws -> Scheduler.Event? {
        let isDue = try await file.read { ledger in
            let isMarked = try !ledger.meta("rulesDue").isNull
            return try isMarked || ledger.rules() == nil
        }
        guard isDue else { return nil }
        let answer = try await ask("GET", "/v1/rules")
        guard answer.status == 200 else { return refusal(answer) }
        let text = String(decoding: answer.body, as: UTF8.self)
        guard let rules = Rules(text: text) else { return lost("the answer is not the rules") }
        try await write("rules") { try $0.storeRules(rules, text: text) }
        sync.freshAfter = nil
        return nil
    }

    /// Returns the event of an answer to a request that names a resource which the gateway does not have any more.
    func unknownResource(_ answer: WholeAnswer) async throws -> Scheduler.Event? {
        guard [400, 404].contains(answer.status), let problem = answer.problem, problem["code"] == "unknown-resource"
        else { return nil }
        note(error: "\(answer.status)", problem)
        try await write("note") { try $0.setMeta("rulesDue", true) }
        return .rules
    }
}
