package import MergeCore
package import RecordStore

/// The reason for which a request has no result.
package struct Failure: Error, Sendable {
    /// The problem that the client is told of.
    package var problem: Problem { reason.problem }
    /// The database's own words, for the log.
    package var cause: StoreError? { reason.cause }

    /// An object, because every step that may fail keeps room for its error.
    private final class Reason: Sendable {
        let problem: Problem
        let cause: StoreError?

        init(_ problem: Problem, _ cause: StoreError?) {
            self.problem = problem
            self.cause = cause
        }
    }

    private let reason: Reason

    init(problem: Problem, cause: StoreError?) {
        reason = Reason(problem, cause)
    }

    /// A fault of the request, found before it could be merged.
    package init(_ problem: Problem) {
        self.init(problem: problem, cause: nil)
    }

    init(_ error: StoreError) {
        self.init(problem: error.problem, cause: error)
    }

    /// Whatever a push has failed with.
    package init(any error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let problem as Problem: self.init(problem)
        case let error as StoreError: self.init(error)
        default: self.init(StoreError(.other, "a push ended with an unknown error"))
        }
    }
}
