import Synchronization

/// One wait for an outcome.
///
/// The outcome, the deadline or the cancellation of the task ends it, whichever comes first.
///
/// A list of waits needs no alarms of its own: `end` returns false for a wait that is over, and the owner of the list goes
/// on to the next one.
package final class Wait<Outcome: Sendable>: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Outcome?, Never>)
        case over(Outcome?)
    }

    private let state = Mutex(State.open)

    /// Makes a wait that is not over.
    package init() {}

    /// True once an outcome, the deadline or a cancellation has ended it.
    package var isOver: Bool {
        state.withLock { if case .over = $0 { true } else { false } }
    }

    /// Ends the wait with an outcome.
    ///
    /// - Returns: false if the wait was over before. Then no caller gets this outcome.
    @discardableResult
    package func end(_ outcome: Outcome) -> Bool { finish(outcome) }

    /// Begins work whose outcome ends the wait.
    ///
    /// The work continues after the deadline and after a cancellation.
    ///
    /// - Parameter late: takes an outcome that no caller gets, because the wait was over.
    package func begin(
        _ work: @escaping @Sendable () async -> Outcome,
        late: @escaping @Sendable (Outcome) async -> Void = { _ in }
    ) {
        Task {
            let outcome = await work()
            if !end(outcome) { await late(outcome) }
        }
    }

    /// Waits for the outcome.
    ///
    /// Only one caller may wait.
    ///
    /// - Returns: nil if no outcome came before the deadline or the cancellation.
    package func outcome(until deadline: ContinuousClock.Instant) async -> Outcome? {
        if case .over(let outcome) = state.withLock({ $0 }) { return outcome }
        async let _: Void = giveUp(at: deadline)
        return await withTaskCancellationHandler {
            await ended()
        } onCancel: {
            finish(nil)
        }
    }

    private func giveUp(at deadline: ContinuousClock.Instant) async {
        // The sleep is cancelled when the wait is over.
        if (try? await Task.sleep(until: deadline, clock: .continuous)) != nil { finish(nil) }
    }

    private func ended() async -> Outcome? {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Outcome?? in
                guard case .over(let outcome) = state else {
                    state = .waiting(continuation)
                    return nil
                }
                return .some(outcome)
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    @discardableResult
    private func finish(_ outcome: Outcome?) -> Bool {
        let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Outcome?, Never>?) in
            switch state {
            case .over: return (false, nil)
            case .open:
                state = .over(outcome)
                return (true, nil)
            case .waiting(let continuation):
                state = .over(outcome)
                return (true, continuation)
            }
        }
        waiting?.resume(returning: outcome)
        return isFirst
    }
}
