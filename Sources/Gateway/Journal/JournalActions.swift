import MergeCore
import MergeService
import MergeWire
import RecordStore

/// Takes entries of the journal back and sends refused pushes again, over HTTP and on the command line alike.
struct JournalActions {
    let service: MergeService
    let served: Served
    let limits: WireLimits
    let deadline: ContinuousClock.Instant

    /// Merges the opposite of an entry; what was taken back once is not taken back again.
    ///
    /// A second time answers what the first one came to.
    ///
    /// - Parameter groups: the groups to take back, as `section.group`; nil for all that are left.
    func undo(_ number: Int, groups: Set<String>?, sender: Sender, isPreview: Bool) async throws -> PushAnswer {
        let body = UndoRequest.body(groups)
        let key = Self.key("undo:\(number)", body)
        if !isPreview, let known = try await service.replay(key, served, deadline) { return known }
        do {
            let opposite = try await opposite(of: number, groups)
            return try await merge(
                PushRequest(
                    push: Push(key: nil, atomicity: .push, edits: [opposite.edit]), form: .merge, sender: sender,
                    key: isPreview ? nil : key, address: "/v1/journal/\(number)/undo", body: body,
                    isPreview: isPreview, effects: opposite.outcomes.map { .undo(number, outcome: $0) }))
        } catch let failure as Failure where failure.cause?.kind == .takenEffect {
            // Another undo took a part of it back meanwhile; what it has left over may be taken back now.
            return try await undo(number, groups: groups, sender: sender, isPreview: isPreview)
        } catch let problem as Problem where problem.code == "nothing-to-undo" && !isPreview {
            // The same undo may just have been merged.
            if let known = try await service.replay(key, served, deadline) { return known }
            throw problem
        }
    }

    private func merge(_ request: PushRequest) async throws -> PushAnswer {
        try await service.merge(request, served: served, deadline: deadline)
    }

    /// The key of something that is done once, whoever does it; another body makes another one.
    private static func key(_ effect: String, _ body: [UInt8]) -> PushKey {
        let key = RequestKey(effect: effect, body: body)
        return PushKey(text: key.text, name: key.name, request: key.fingerprint)
    }

    private func opposite(of number: Int, _ groups: Set<String>?) async throws -> UndoDecoder.Opposite {
        let stored = try await service.entry(number, served: served, deadline: deadline)
        let (resource, content) = try service.undoable(stored, served: served)
        let taken = try await service.undoneOutcomes(of: number, served: served, deadline: deadline)
        return try UndoDecoder(resource: resource, groups: groups, taken: taken, columns: served.columns)
            .opposite(of: content)
    }

    /// Sends a refused push again, as its sender, under a key of its own and the rules of today.
    ///
    /// Of a push of which some edits were merged, the others alone are sent. It is all or nothing, so that a replay that
    /// succeeded leaves nothing to be sent once more, and it succeeds once.
    func replay(_ number: Int, isPreview: Bool) async throws -> PushAnswer {
        let stored = try await service.entry(number, served: served, deadline: deadline)
        guard let refused = stored.refused else {
            throw Problem(
                status: 422, code: "nothing-to-replay", title: "There is nothing to replay",
                detail: "Entry \(number) is no push that was refused.", retry: false)
        }
        if let time = stored.replayed {
            throw Problem(
                status: 409, code: "already-replayed", title: "The push was replayed before",
                detail: "The refused push \(number) was sent again and merged at \(time).", retry: false)
        }
        let (push, form, undone) = try await push(refused, of: stored)
        let merged =
            try await service.partialAnswer(number, served: served, deadline: deadline)
            .map(OutcomeReader.merged) ?? []
        let edits = push.edits.enumerated().filter { !merged.contains($0.offset) }.map(\.element)
        return try await merge(
            PushRequest(
                push: Push(key: nil, atomicity: .push, edits: edits), form: form, sender: stored.sender,
                key: isPreview ? nil : Self.key("resend:\(number)", []), address: refused.address, body: refused.body,
                isPreview: isPreview, effects: [.resend(number)] + undone))
    }

    /// - Returns: the push, the form of its answer, and what it takes back, where it is an undo.
    private func push(
        _ refused: RefusedBody, of stored: StoredEntry
    ) async throws -> (push: Push, form: AnswerForm, undone: [SingleEffect]) {
        let parts = refused.address.split(separator: "/").map(String.init)
        if parts.count == 4, parts[3] == "undo", let number = Int(parts[2]) {
            let opposite = try await opposite(of: number, try UndoRequest.groups(refused.body))
            return (
                Push(key: nil, atomicity: .push, edits: [opposite.edit]), .merge,
                opposite.outcomes.map { .undo(number, outcome: $0) }
            )
        }
        let decoder = PushDecoder(catalog: served.catalog, limits: limits, requiresVersion: false)
        if parts.count == 2 {
            return (
                try decoded(refused) { bytes throws(Problem) in
                    try decoder.push(bytes, headerKey: nil, sender: stored.sender.who)
                }, .push, []
            )
        }
        guard parts.count == 3, let resource = served.catalog[parts[2]] else {
            throw Problem(
                status: 422, code: "not-replayable", title: "The push cannot be sent again",
                detail: "Its address \(refused.address) is none of these rules any more.", retry: false)
        }
        return (
            try decoded(refused) { bytes throws(Problem) in
                try decoder.merge(bytes, resource: resource, headerKey: nil, sender: stored.sender.who)
            }, .merge, []
        )
    }

    private func decoded(
        _ refused: RefusedBody, _ decode: (UnsafeRawBufferPointer) throws(Problem) -> DecodedPush
    ) throws -> Push {
        try refused.body.withUnsafeBytes { bytes throws(Problem) in try decode(bytes) }.push.get()
    }
}
