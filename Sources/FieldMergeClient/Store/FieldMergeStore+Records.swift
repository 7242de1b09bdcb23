import GRDB

extension FieldMergeStore {
    // MARK: Reading

    /// Returns a record of the store, with unsent edits; nil if there is none.
    ///
    /// A record of a resource that is not kept is requested from the gateway.
    /// - Throws: `FieldMergeError.offline` if that gives no answer, `InvalidEdit` with the nearest name where the rules
    ///   have no such resource.
    public func record(_ resource: String, _ id: some RecordID) async throws -> Record? {
        let id = id.jsonValue
        try await file.read { try $0.checkName(resource) }
        guard context.keeps(resource) else { return try await fetched(resource, id: id) }
        return try await file.read { try $0.record(resource, id) }
    }

    /// Returns every record of a resource, in the order of keys.
    ///
    /// - Throws: the same as `record`.
    public func records(_ resource: String) async throws -> [Record] {
        try await file.read { try $0.checkName(resource) }
        guard context.keeps(resource) else { return try await fetchedAll(resource) }
        return try await file.read { try $0.all(resource) }
    }

    /// Returns the state of a group of a record, or of a larger part if fewer names are given.
    ///
    /// In a list, `item` is the id of an item.
    /// - Throws: `InvalidEdit` with the nearest name if the rules lack one.
    public func state(
        _ resource: String, _ id: some RecordID, _ section: String? = nil, _ group: String? = nil,
        item: (any RecordID)? = nil
    ) async throws -> EditState {
        let path = EditPath(section: section, item: item?.jsonValue.nonNull, group: group)
        let id = id.jsonValue
        return try await file.read { ledger in
            try ledger.checkName(resource, path)
            return try ledger.state(resource, id, path: path)
        }
    }

    /// Returns the ticket of an earlier edit by its token, or the latest ticket by its record's id; nil if there is none.
    public func ticket(_ id: some RecordID, resource: String? = nil) async throws -> Ticket? {
        let wanted = id.jsonValue
        let found = try await file.read { ledger in
            try ledger.findTicket(wanted, resource: resource).map { ($0, try ledger.ticketID($0)) }
        }
        return found.map { Ticket(token: $0.0, id: $0.1, store: self) }
    }

    func outcome(of token: String) async -> Outcome? {
        if let lastWords {
            guard let (stored, rules) = lastWords.outcomes[token] else {
                return Outcome(status: .unknown, conflicts: [], problem: nil, record: nil)
            }
            return outcome(stored.json, rules)
        }
        // A closed store has no more outcomes.
        let told = try? await file.read { ledger in
            let stored = try ledger.outcome(of: token)
            let rules = try ledger.rules()
            let place = try ledger.tickets("token = ?", [token]).first?.records.first
            return (stored, place.flatMap { rules?.resources[$0.resource] })
        }
        guard let (stored, rules) = told, let json = stored?.json else { return nil }
        return outcome(json, rules)
    }

    private func outcome(_ json: JSONValue, _ rules: ResourceRules?) -> Outcome {
        Outcome(
            status: json["status"].stringValue.flatMap(OutcomeStatus.init) ?? .unknown,
            conflicts: (json["conflicts"].arrayValue ?? []).map { Conflict($0, self) },
            problem: json["problem"].nonNull,
            record: json["record"].objectValue.map { Record($0, rules) })
    }

    // MARK: Records that are not kept

    private func fetched(_ resource: String, id: JSONValue) async throws -> Record? {
        let (resolved, pending, rules) = try await file.read { ledger in
            let resolved = try ledger.resolve(id)
            let place = RecordPlace(resource: resource, key: resolved.key)
            let pending = try ledger.pending(place).isEmpty ? nil : ledger.record(resource, resolved)
            return (resolved, pending, try ledger.known(resource))
        }
        if let pending { return pending }
        let told = try await asked("/v1/records/\(resource.percentEncoded)/\(resolved.addressPart)")
        let record = told?.objectValue
        return try await file.read { ledger in
            let pending = try ledger.pending(RecordPlace(resource: resource, key: resolved.key))
            return try ledger.view(of: record, in: resource, id: resolved, under: pending).map { Record($0, rules) }
        }
    }

    private func fetchedAll(_ resource: String) async throws -> [Record] {
        var records: [Record] = []
        var after = ""
        while let page = try await asked("/v1/records/\(resource.percentEncoded)?limit=500\(after)") {
            let lines = page["records"].arrayValue?.compactMap(\.objectValue) ?? []
            records += try await file.read { ledger in
                let rules = try ledger.known(resource)
                return try lines.map { try ledger.record(resource, $0["id"] ?? .null) ?? Record($0, rules) }
            }
            guard let next = page["next"].stringValue else { break }
            after = "&after=\(next)"
        }
        return records
    }

    /// Requests records that are not kept from the gateway; nil if they do not exist.
    private func asked(_ path: String) async throws -> JSONValue? {
        let answer: WholeAnswer
        do {
            var (response, generation) = try await send("GET", path)
            if response.status == 401 {
                try await renewToken(refused: generation)
                (response, generation) = try await send("GET", path)
            }
            answer = try await Self.whole(response)
        } catch let error as ConnectionLost {
            throw FieldMergeError.offline(error.reason)
        }
        if answer.status == 200, !answer.json.isNull { return answer.json }
        guard let problem = answer.problem, ![429, 503, 504].contains(answer.status) else {
            throw FieldMergeError.offline("\(answer.status)")
        }
        if answer.status == 404, problem["code"] == "no-such-record" { return nil }
        throw FieldMergeError.requestRefused(status: answer.status, problem: problem)
    }

    /// Has a record of a resource that is not kept here, for it to be edited.
    nonisolated func visit(_ resource: String, _ id: JSONValue) async throws {
        guard !context.keeps(resource), let record = try await fetched(resource, id: id) else { return }
        let members = record.members
        try await write("visit") { try $0.visit(resource, members) }
    }
}
