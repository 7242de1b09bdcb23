import MergeCore
import RecordStore

/// Pushes under keys: each takes effect once, and is answered as the first time ever after.
///
/// The only place that looks a stored answer up. It is asked late: mostly a key is new, and then the unique index of the
/// journal tells at no cost. It is asked wherever a push did not come to an answer that is kept, since an earlier run of
/// it may have, on this gateway or on another.
package struct KeyedExecution: Sendable {
    private let inFlight = KeysInFlight()
    /// Settles what a journal that is written ahead has left in doubt.
    private let recover: @Sendable (ActiveRules, ContinuousClock.Instant) async throws(StoreError) -> Void
    private static let maximumRuns = 4

    init(recover: @escaping @Sendable (ActiveRules, ContinuousClock.Instant) async throws(StoreError) -> Void) {
        self.recover = recover
    }

    /// Runs a push, or answers what was answered to it before.
    ///
    /// - Parameters:
    ///   - key: nil for a push without a key, and for a preview.
    ///   - run: comes to an answer, mostly with `merge`; it may be called again where it is known to have had no effect.
    /// - Throws: a `Failure` where there is no answer, be it kept or new: a fault in the request, or a database that
    ///   cannot be used.
    package func answer(
        under key: PushKey?, active: ActiveRules, deadline: ContinuousClock.Instant,
        run: () async throws(Failure) -> PushAnswer
    ) async throws(Failure) -> PushAnswer {
        guard let key, let journal = active.journal else { return try await run() }
        // Mostly nobody has sent the same push, and then nothing has to be waited for.
        let isFirst = inFlight.begin(key.name)
        if !isFirst { try await waitForOther(key, deadline) }
        defer { inFlight.end(key.name) }
        // Who waited for the same push most likely finds its answer.
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
                // The lookup waits for whatever is under way; where it finds nothing, nothing was committed.
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

    /// Looks up what was answered to a push before, without running it.
    ///
    /// - Returns: the answer; nil where there is none.
    /// - Throws: a `Failure`: 422 where the key stands for another push, 504 where the journal cannot be asked.
    package func known(
        under key: PushKey, active: ActiveRules, deadline: ContinuousClock.Instant
    ) async throws(Failure) -> PushAnswer? {
        guard let journal = active.journal else { return nil }
        // A push that still runs may have an entry in a write-ahead journal that is not committed yet.
        if !inFlight.begin(key.name) { try await waitForOther(key, deadline) }
        defer { inFlight.end(key.name) }
        return try await stored(key, in: journal, active: active, until: deadline)
    }

    private func waitForOther(_ key: PushKey, _ deadline: ContinuousClock.Instant) async throws(Failure) {
        do {
            try await inFlight.beginLater(key.name, until: deadline)
        } catch {
            throw Failure(problem: error, cause: nil)
        }
    }

    /// The answer that is kept under a key in place of a failure.
    ///
    /// - Throws: the failure where nothing is kept, and where the journal has the same trouble as the push.
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

    /// Returns what to do where a push did not come to an answer.
    private static func next(after failure: Failure, _ deadline: ContinuousClock.Instant) -> Next {
        switch failure.cause?.kind {
        // Another run of the same push, or of one with a part of its effect, was quicker, or the connection broke during
        // COMMIT.
        case .knownKey, .takenEffect, .unknownOutcome: return .lookUpAndRunAgain
        // Who asks now would only wait as well.
        case .unavailable, .disconnected, .overloaded: return .giveUp
        default: return ContinuousClock.now < deadline ? .lookUp : .giveUp
        }
    }

    /// Says what is known by then: nothing was written.
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

    /// The answer that is kept under a key; nil where there is none.
    ///
    /// - Parameter failure: the reason for which this run of the push has no answer.
    /// - Throws: a `Failure`: 422 if another push has the key, 503 if the journal has lost its tables, 504 if the journal
    ///   cannot be read, because the push may have been merged before.
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
        detail: "A push with this key and another body or address was answered already; nothing was written.",
        path: WirePath("key"), retry: .never)
}
