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

    /// Merges the opposite of an entry.
    ///
    /// - Parameter groups: the groups to take back, as `section.group`; nil for all.
    func undo(_ number: Int, groups: Set<String>?, sender: Sender, isPreview: Bool) async throws -> PushAnswer {
        try await service.merge(
            PushRequest(
                push: try await opposite(of: number, groups), form: .merge, sender: sender, key: nil,
                address: "/v1/journal/\(number)/undo", body: UndoRequest.body(groups), isPreview: isPreview),
            served: served, deadline: deadline)
    }

    private func opposite(of number: Int, _ groups: Set<String>?) async throws -> Push {
        let stored = try await service.entry(number, served: served, deadline: deadline)
        return try service.opposite(of: stored, served: served) { content, resource throws(Problem) in
            try UndoDecoder(resource: resource, groups: groups, columns: served.columns).edit(content)
        }
    }

    /// Sends a refused push again, as its sender and without its key, under the rules of today.
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
        let (push, form) = try await push(refused, of: stored)
        let merged =
            try await service.partialAnswer(number, served: served, deadline: deadline)
            .map(OutcomeReader.merged) ?? []
        let edits = push.edits.enumerated().filter { !merged.contains($0.offset) }.map(\.element)
        return try await service.merge(
            PushRequest(
                push: Push(key: nil, atomicity: .push, edits: edits), form: form, sender: stored.sender, key: nil,
                address: refused.address, body: refused.body, isPreview: isPreview, replays: number),
            served: served, deadline: deadline)
    }

    private func push(_ refused: RefusedBody, of stored: StoredEntry) async throws -> (Push, AnswerForm) {
        let parts = refused.address.split(separator: "/").map(String.init)
        if parts.count == 4, parts[3] == "undo", let number = Int(parts[2]) {
            return (try await opposite(of: number, try UndoRequest.groups(refused.body)), .merge)
        }
        let decoder = PushDecoder(catalog: served.catalog, limits: limits, requiresVersion: false)
        if parts.count == 2 {
            return (
                try decoded(refused) { bytes throws(Problem) in
                    try decoder.push(bytes, headerKey: nil, sender: stored.sender.who)
                }, .push
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
            }, .merge
        )
    }

    private func decoded(
        _ refused: RefusedBody, _ decode: (UnsafeRawBufferPointer) throws(Problem) -> DecodedPush
    ) throws -> Push {
        try refused.body.withUnsafeBytes { bytes throws(Problem) in try decode(bytes) }.push.get()
    }
}
