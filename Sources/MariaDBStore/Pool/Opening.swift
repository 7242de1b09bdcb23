import RecordStore
import Synchronization

/// The opening of a connection, which may take longer than whoever asked for it can wait.
final class Opening: Sendable {
    typealias Outcome = Result<MariaDBConnection, StoreError>

    private enum State {
        case open
        case waiting(CheckedContinuation<Outcome, Never>)
        case ended(Outcome)
        /// The outcome has been handed over.
        case over
    }

    private let state = Mutex(State.open)

    /// Ends the opening.
    ///
    /// - Returns: false where it had ended before, so that nobody takes this outcome.
    @discardableResult
    func end(_ outcome: Outcome) -> Bool {
        let (isFirst, waiter) = state.withLock { state -> (Bool, CheckedContinuation<Outcome, Never>?) in
            switch state {
            case .open:
                state = .ended(outcome)
                return (true, nil)
            case .waiting(let continuation):
                state = .over
                return (true, continuation)
            case .ended, .over: return (false, nil)
            }
        }
        waiter?.resume(returning: outcome)
        return isFirst
    }

    /// Waits for the end, once.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let known = state.withLock { state -> Outcome? in
                guard case .ended(let outcome) = state else {
                    state = .waiting(continuation)
                    return nil
                }
                state = .over
                return outcome
            }
            if let known { continuation.resume(returning: known) }
        }
    }
}
