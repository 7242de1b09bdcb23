import Synchronization

/// Work that runs once at a time: callers that come meanwhile wait for the same outcome.
///
/// The work is no child of a caller. So a caller that is cancelled does not end it for the others.
package final class SharedRun<Outcome: Sendable>: Sendable {
    private typealias Run = Task<Outcome, Never>

    private let current = Mutex<Run?>(nil)

    /// Makes a run that has not begun.
    package init() {}

    /// Returns the outcome of the current run; begins one if there is none.
    package func outcome(of work: @escaping @Sendable () async -> Outcome) async -> Outcome {
        await current.withLock { $0 ?? begin(work, as: &$0) }.value
    }

    /// Returns the outcome of the current run; begins one if there is none and the condition holds.
    ///
    /// - Parameter mayBegin: called under a lock; it must not call the run.
    package func outcome(
        of work: @escaping @Sendable () async -> Outcome, if mayBegin: () -> Bool
    ) async -> Outcome? {
        await current.withLock { current -> Run? in
            if current == nil, !mayBegin() { return nil }
            return current ?? begin(work, as: &current)
        }?.value
    }

    private func begin(_ work: @escaping @Sendable () async -> Outcome, as current: inout sending Run?) -> Run {
        let run = Run {
            let outcome = await work()
            self.current.withLock { $0 = nil }
            return outcome
        }
        current = run
        return run
    }
}
