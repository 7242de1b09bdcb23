import MergeCore
import RecordStore

/// Applies each key's push once and returns the stored answer to repetitions.
///
/// Only this type looks up answers by key. It does so after a run, because most keys are new and the journal's unique
/// index detects repetitions without cost. If a run has no answer to store, an earlier run may have stored one, also on
/// another gateway.
package struct KeyedExecution: Sendable {
    private let inFlight = KeysInFlight()
    /// Runs recovery for a write-ahead journal.
    private let recover: @Sendable (ActiveRules, ContinuousClock.Instant) async throws(StoreError) -> Void
    private static let maximumRuns = 4

    init(recover: @escaping @Sendable (ActiveRules, ContinuousClock.Instant) async throws(StoreError) -> Void) {
        self.recover = recover
    }

    /// Runs a push, or returns its stored answer.
    ///
    /// - Parameters:
    ///   - key: nil for a push without a key, and for a preview.
    ///   - run: executes the push; it is called again only if the run before had no effect.
    /// - Throws: a `Failure` if there is no answer, stored or new.
    package func answer(
        under key: PushKey?, active: ActiveRules, deadline: ContinuousClock.Instant,
        run: () async throws(Failure) -> PushAnswer
    ) async throws(Failure) -> PushAnswer {
        guard let key, let journal = active.journal else { return try await run() }
        let isFirst = inFlight.begin(key.name)
        if !isFirst { try await waitForOther(key, until: deadline) }
        defer { inFlight.end(key.name) }
        // After a wait for the same push, its answer is most likely stored.
        if !isFirst, let known = try await stored(key, in: journal, active: active, until: deadline) { return known }
        for attempt in 1...Self.maximumRuns {
            let failure: Failure
            do throws(Failure) {
                let answer = try await run()
                if answer.isKept { return answer }
                return try await stored(key, in: journal, active: active, until: deadline) ?? answer
            } catch {
                failure = error
            }
            switch Self.next(after: failure, deadline) {
            case .giveUp: throw failure
            case .lookUp: return try await stored(key, in: journal, or: failure, active: active, until: deadline)
            case .lookUpAndRunAgain:
                // The lookup waits for transactions in progress. If it finds nothing, nothing was committed.
                if let known = try await stored(
                    key, in: journal, after: failure, active: active, until: deadline)
                {
                    return known
                }
                if attempt == Self.maximumRuns { throw Self.withoutEffect(failure) }
            }
        }
        throw Failure(StoreError(.busy, "the push's key is being kept by another"))
    }

    /// Looks up the stored answer to a push, without running it.
    ///
    /// - Returns: the answer; nil if there is none.
    /// - Throws: a `Failure`: 422 if the key belongs to another push, 504 if the journal cannot be read.
    package func known(
        under key: PushKey, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws(Failure) -> PushAnswer? {
        guard let journal = active.journal else { return nil }
        // A running push may have an uncommitted entry in a write-ahead journal.
        if !inFlight.begin(key.name) { try await waitForOther(key, until: deadline) }
        defer { inFlight.end(key.name) }
        return try await stored(key, in: journal, active: active, until: deadline)
    }

    private func waitForOther(_ key: PushKey, until deadline: ContinuousClock.Instant) async throws(Failure) {
        do {
            try await inFlight.beginLater(key.name, until: deadline)
        } catch {
            throw Failure(problem: error, cause: nil)
        }
    }

    /// Looks up a stored answer to replace a failure; throws the failure if none is stored or the journal fails too.
    private func stored(
        _ key: PushKey, in journal: Journal, or failure: Failure, active: ActiveRules,
        until deadline: ContinuousClock.Instant
    ) async throws(Failure) -> PushAnswer {
        let known: PushAnswer?
        do throws(Failure) {
            known = try await stored(key, in: journal, active: active, until: deadline)
        } catch {
            let isTemporary = failure.cause != nil || failure.problem.retry?.isLater == true
            throw error.cause != nil && isTemporary ? failure : error
        }
        guard let known else { throw failure }
        return known
    }

    private enum Next {
        case giveUp
        case lookUp
        case lookUpAndRunAgain
    }

    private static func next(after failure: Failure, _ deadline: ContinuousClock.Instant) -> Next {
        switch failure.cause?.kind {
        // Another run of this push, or a push with one of its effects, came first, or the connection broke during
        // COMMIT.
        case .knownKey, .takenEffect, .unknownOutcome: return .lookUpAndRunAgain
        // A lookup would fail in the same way.
        case .unavailable, .disconnected, .overloaded: return .giveUp
        default: return ContinuousClock.now < deadline ? .lookUp : .giveUp
        }
    }

    /// The error states that nothing was written.
    private static func withoutEffect(_ failure: Failure) -> Failure {
        guard let cause = failure.cause else { return failure }
        let kind: StoreError.Kind =
            switch cause.kind {
            case .unknownOutcome: .unavailable
            case .takenEffect: .takenEffect
            default: .busy
            }
        return Failure(StoreError(kind, cause.message, code: cause.code))
    }

    /// Looks up the stored answer of a key.
    ///
    /// - Parameter failure: the reason why this run of the push has no answer.
    /// - Throws: a `Failure`: 422 if another push has the key, 503 if the journal has lost its tables. If the journal
    ///   cannot be read, 504, because the push may have been merged before.
    private func stored(
        _ key: PushKey, in journal: Journal, after failure: Failure? = nil, active: ActiveRules,
        until deadline: ContinuousClock.Instant
    ) async throws(Failure) -> PushAnswer? {
        let found: [[Value]]
        do throws(StoreError) {
            try await recover(active, deadline)
            found = try await journal.engine.write(deadline: deadline) { session throws(StoreError) in
                .rollback(try session.query(journal.tables.answer(key.name, locking: true)))
            }
        } catch {
            if error.ofJournal.kind == .unwritable, failure?.cause?.kind != .unknownOutcome {
                throw Failure(error.ofJournal)
            }
            throw Failure(
                StoreError(.unknownOutcome, "the push's key could not be looked up: \(error)", code: error.code))
        }
        guard let kept = found.first.flatMap({ journal.tables.keptAnswer($0) }) else { return nil }
        guard kept.request == key.request else { throw Failure(problem: Self.reused, cause: nil) }
        return PushAnswer(
            status: kept.status, body: kept.body, result: nil, isKept: true, failure: kept.failure,
            access: kept.access)
    }

    private static let reused = Problem(
        .keyReused,
        detail: "A push with this key and another body or address was answered before. Nothing was written.",
        path: WirePath("key"), retry: .never)
}
