package import MergeCore
package import MergeService
package import MergeWire
package import RecordStore

/// Undoes journal entries and resends refused pushes, over HTTP and on the command line.
package struct JournalActions: Sendable {
    private let service: MergeService
    private let active: ActiveRules
    private let limits: WireLimits
    private let access: ClientAccess?
    private let claims: AccessClaims
    private let maintenance: Maintenance
    private let deadline: ContinuousClock.Instant

    /// Makes the actions of one request.
    ///
    /// - Parameters:
    ///   - access: the rights of the operator; nil at the console, which has all rights.
    ///   - claims: the claims of the operator, for the stamps of an undo.
    package init(
        service: MergeService, active: ActiveRules, limits: WireLimits, access: ClientAccess? = nil,
        claims: AccessClaims = AccessClaims(), maintenance: Maintenance = Maintenance(),
        deadline: ContinuousClock.Instant
    ) {
        self.maintenance = maintenance
        self.access = access
        self.claims = claims
        self.service = service
        self.active = active
        self.limits = limits
        self.deadline = deadline
    }

    /// Merges the opposite of an entry, without outcomes that were undone before.
    ///
    /// A repeated undo returns the first answer.
    ///
    /// - Parameters:
    ///   - wanted: the groups to undo, and whether values that have changed since are undone too.
    ///   - request: the id of the HTTP request; nil at the console.
    package func undo(
        _ number: Int, wanted: UndoRequest, sender: Sender, request id: String? = nil, isPreview: Bool
    ) async throws -> PushAnswer {
        let body = wanted.body
        let key = isPreview ? nil : Self.key("undo:\(number)", body: body)
        return try await service.keyed.answer(under: key, active: active, deadline: deadline) {
            () async throws(Failure) in
            let opposite = try await oppositeOrFailure(number, wanted: wanted)
            let request = PushRequest(
                push: Push(key: key?.text, atomicity: .push, edits: [opposite.edit]), form: .merge, sender: sender,
                purpose: key.map { .once($0, opposite.outcomes.map { .undo(number, outcome: $0) }) } ?? .preview,
                sent: SentRequest(address: "/v1/journal/\(number)/undo", body: body, id: id), access: access,
                claims: claims)
            return try await merge(request)
        }
    }

    private func merge(_ request: PushRequest) async throws(Failure) -> PushAnswer {
        try await maintenance.run(failingWith: { Failure($0) }) { () async throws(Failure) in
            try await service.merge(request, active: active, deadline: deadline)
        }
    }

    private func oppositeOrFailure(
        _ number: Int, wanted: UndoRequest
    ) async throws(Failure) -> UndoDecoder.Opposite {
        do {
            return try await opposite(of: number, wanted: wanted)
        } catch {
            throw Failure(any: error)
        }
    }

    /// Returns the key of an action that takes effect once, for all clients; another body has another key.
    private static func key(_ effect: String, body: [UInt8]) -> PushKey {
        let key = RequestKey(effect: effect, body: body)
        return PushKey(text: key.text, name: key.name, request: key.fingerprint)
    }

    private func opposite(of number: Int, wanted: UndoRequest) async throws -> UndoDecoder.Opposite {
        let stored = try await service.entry(number, active: active, deadline: deadline)
        let (resource, content) = try service.undoable(stored, active: active)
        if let access, !EntryView.isReadable(PackedBytes.unpack(content), of: resource, by: access.viewer) {
            throw Problem(
                .noRight, detail: "The rules do not allow this client to read everything that the entry wrote.",
                retry: .never)
        }
        let taken = try await service.undoneOutcomes(of: number, active: active, deadline: deadline)
        let opposite = try UndoDecoder(
            resource: resource, groups: wanted.groups, taken: taken, columns: active.columns
        ).opposite(of: content)
        guard wanted.isForced, let key = opposite.edit.id.key else { return opposite }
        let record = try await service.record(resource, key, deadline: deadline)
        if let problem = record?.problem { throw problem }
        return UndoDecoder.Opposite(edit: opposite.edit.rebased(on: record?.readable))
    }

    /// Sends a refused push again, under its own key and the current rules.
    ///
    /// If some edits were merged before, it sends only the other edits. They are merged completely or not at all, so a
    /// resend succeeds at most once. An equal resend returns the first answer.
    ///
    /// - Parameters:
    ///   - correction: the edited push and its editor, who then is its sender; nil sends the stored push for its sender.
    ///   - id: the id of the HTTP request; nil at the console.
    package func replay(
        _ number: Int, correction: Correction? = nil, request id: String? = nil, isPreview: Bool
    ) async throws -> PushAnswer {
        let (stored, refused) = try await refusedPush(number)
        let key = isPreview ? nil : Self.key("resend:\(number)", body: correction?.body ?? [])
        if let settlement = stored.settlement {
            guard let key, let first = try await service.keyed.known(under: key, active: active, deadline: deadline)
            else { throw Self.settled(number, settlement: settlement) }
            return first
        }
        try Self.checkIsKept(refused)
        return try await service.keyed.answer(under: key, active: active, deadline: deadline) {
            () async throws(Failure) in
            let rest = try await restOrFailure(
                correction?.corrected(refused) ?? refused, of: stored, isCorrected: correction != nil)
            let request = PushRequest(
                push: Push(key: key?.text, atomicity: .push, edits: rest.edits), form: rest.form,
                sender: correction?.editor ?? stored.sender,
                purpose: key.map { .once($0, [.resend(number)] + rest.undone) } ?? .preview,
                sent: SentRequest(address: refused.address, body: correction?.body ?? refused.body, id: id),
                access: access, claims: correction == nil ? AccessClaims() : claims)
            return try await merge(request)
        }
    }

    /// A refused push in a form that an operator has edited.
    package struct Correction: Sendable {
        let body: [UInt8]
        let editor: Sender

        /// - Parameter body: the push as JSON.
        package init(body: [UInt8], editor: Sender) {
            self.body = body
            self.editor = editor
        }

        fileprivate func corrected(_ refused: RefusedBody) -> RefusedBody {
            RefusedBody(address: refused.address, body: body, reason: refused.reason)
        }
    }

    /// Settles a refused push without a resend; a dropped push stays dropped by its first operator.
    ///
    /// - Returns: the entry as it is afterwards.
    package func drop(_ number: Int, by operatorName: String) async throws -> StoredEntry {
        let (stored, _) = try await refusedPush(number)
        try checkIsReadable()
        if case .dropped? = stored.settlement { return stored }
        do {
            try await maintenance.run(failingWith: { $0 as any Error }) { () async throws in
                try await service.drop(number, by: operatorName, active: active, deadline: deadline)
            }
        } catch let error as StoreError where error.kind == .takenEffect {
            // Another operator has settled it meanwhile.
        }
        let after = try await service.entry(number, active: active, deadline: deadline)
        if let settlement = after.settlement, settlement.resent != nil {
            throw Self.settled(number, settlement: settlement)
        }
        return after
    }

    /// - Throws: a 403 `Problem` if the operator may not read all that a push may contain.
    private func checkIsReadable() throws(Problem) {
        guard active.catalog.isWhollyReadable(by: access) else {
            throw Problem(
                .noRight, detail: "The rules do not allow this client to read all that the push may contain.",
                retry: .never)
        }
    }

    private func refusedPush(_ number: Int) async throws -> (StoredEntry, RefusedBody) {
        let stored = try await service.entry(number, active: active, deadline: deadline)
        guard let refused = stored.refused else {
            throw Problem(.nothingToReplay, detail: "Entry \(number) is not a refused push.", retry: .never)
        }
        return (stored, refused)
    }

    private static func settled(_ number: Int, settlement: RefusalSettlement) -> Problem {
        let detail =
            switch settlement {
            case .resent(let time): "The refused push \(number) was sent again and merged at \(time)."
            case .dropped(let time, let who):
                "The refused push \(number) was dropped at \(time)" + (who.isEmpty ? "." : " by \(who).")
            }
        return Problem(.alreadyReplayed, detail: detail, retry: .never)
    }

    /// The edits of a resend, the form of its answer, and the outcomes to undo.
    private struct Resent {
        let edits: [Edit]
        let form: AnswerForm
        var undone: [SingleEffect] = []
    }

    private func restOrFailure(
        _ refused: RefusedBody, of stored: StoredEntry, isCorrected: Bool
    ) async throws(Failure) -> Resent {
        do {
            try await checkIsUnmerged(stored)
            return try await rest(refused, of: stored, isCorrected: isCorrected)
        } catch {
            throw Failure(any: error)
        }
    }

    /// - Throws: a 409 `Problem` if the push was merged with its key before or after the refusal, which is only possible
    ///   if its stored answer was pruned.
    private func checkIsUnmerged(_ stored: StoredEntry) async throws {
        guard let key = stored.key,
            let other = try await service.otherMerge(
                of: stored, name: RequestKey.name(of: key, owner: stored.sender.who), active: active,
                deadline: deadline)
        else { return }
        throw Problem(
            .alreadyReplayed,
            detail: "The client has sent the push with its key another time, and it was merged: entry \(other).",
            retry: .never
        )
    }

    /// Returns the edits of a refused push that were not merged.
    private func rest(_ refused: RefusedBody, of stored: StoredEntry, isCorrected: Bool) async throws -> Resent {
        if !isCorrected {
            try checkIsReadable()
            try Self.checkIsWhole(refused)
        }
        if PrivateValues.hasDigest(refused.body) {
            throw Problem(
                .private, detail: "The push contains the digest of a private value. Replace it by the value.",
                retry: .never)
        }
        let whole = try await whole(refused, of: stored)
        let answer = try await service.partialAnswer(stored.number, active: active, deadline: deadline)
        let merged = answer.map(OutcomeReader.merged) ?? []
        // An edit at another place, or of another record, could be merged twice.
        if isCorrected, answer != nil {
            throw Problem(
                .notReplayable,
                detail:
                    "Some edits of this push were merged. Resend it without changes, or send the other edits as a new "
                    + "push.", retry: .never)
        }
        if !isCorrected { try Self.checkNeedsNoClaims(whole.edits) }
        let edits = whole.edits.enumerated().filter { !merged.contains($0.offset) }.map(\.element)
        return Resent(edits: edits, form: whole.form, undone: whole.undone)
    }

    /// - Throws: a 422 `Problem` if the rules set columns of new records from claims of the sender, which the journal does
    ///   not contain.
    private static func checkNeedsNoClaims(_ edits: [Edit]) throws(Problem) {
        guard let edit = edits.first(where: { $0.createsRecord && $0.resource.setsClaims }) else { return }
        throw Problem(
            .notReplayable,
            detail:
                "The rules set columns of new records of “\(edit.resource.name)” from the sender's claims, which the "
                + "journal does not contain. The client must send the push itself.", retry: .never)
    }

    /// - Throws: a 422 `Problem` if a push was erased; then the journal does not show which edits were merged either.
    private static func checkIsKept(_ refused: RefusedBody) throws(Problem) {
        guard let time = ErasureMark.time(in: refused.body) else { return }
        throw Problem(.private, detail: "The values of this push were erased at \(time).", retry: .never)
    }

    /// - Throws: a 422 `Problem` if the journal does not contain all of a push.
    private static func checkIsWhole(_ refused: RefusedBody) throws(Problem) {
        guard InvalidPush(refused.body) == nil else {
            throw Problem(
                .notReplayable,
                detail:
                    "The push was not valid (\(refused.reason)), so the journal has only its length. The client must "
                    + "correct it and send it again.", retry: .never)
        }
        let hidden = PrivateValues.missing(in: refused.body)
        guard hidden.isEmpty else {
            throw Problem(
                .private,
                detail:
                    "The values of \(hidden.map { "“\($0)”" }.joined(separator: ", ")) are not kept, because the rules "
                    + "declare them private. The client must send the push itself.", retry: .never, fields: hidden)
        }
    }

    private func whole(_ refused: RefusedBody, of stored: StoredEntry) async throws -> Resent {
        let parts = refused.address.split(separator: "/").map(String.init)
        if parts.count == 4, parts[3] == "undo", let number = Int(parts[2]) {
            let opposite = try await opposite(of: number, wanted: try UndoRequest(refused.body))
            return Resent(
                edits: [opposite.edit], form: .merge,
                undone: opposite.outcomes.map { .undo(number, outcome: $0) })
        }
        let decoder = PushDecoder(catalog: active.catalog, limits: limits, requiresVersion: false)
        if parts.count == 2 {
            return Resent(
                edits: try edits(refused) { bytes throws(Problem) in
                    try decoder.push(bytes, headerKey: nil, sender: stored.sender.who)
                }, form: .push)
        }
        guard parts.count == 3, let resource = active.catalog[parts[2]] else {
            throw Problem(
                .notReplayable, detail: "Its address \(refused.address) is not an address of the current rules.",
                retry: .never
            )
        }
        return Resent(
            edits: try edits(refused) { bytes throws(Problem) in
                try decoder.merge(bytes, resource: resource, headerKey: nil, sender: stored.sender.who)
            }, form: .merge)
    }

    private func edits(
        _ refused: RefusedBody, _ decode: (UnsafeRawBufferPointer) throws(Problem) -> DecodedPush
    ) throws -> [Edit] {
        try refused.body.withUnsafeBytes { bytes throws(Problem) in try decode(bytes) }.push.get().edits
    }
}

extension Resource {
    /// True if a creation sets columns from claims under some role.
    fileprivate var setsClaims: Bool { access?.roles.contains { !$0.sets.isEmpty } ?? false }
}
