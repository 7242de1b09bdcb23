package import MergeCore
package import RecordStore

/// The reason why a request has no result.
package struct Failure: Error, Sendable {
    /// The problem for the client.
    package var problem: Problem { reason.problem }
    /// The error of the database, for the log.
    package var cause: StoreError? { reason.cause }

    /// An object, so that the error type stays small.
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

    /// Creates the failure of an invalid request.
    package init(_ problem: Problem) {
        self.init(problem: problem, cause: nil)
    }

    init(_ error: StoreError) {
        self.init(problem: error.problem, cause: error)
    }

    /// Creates a failure from any error of a push.
    package init(any error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let problem as Problem: self.init(problem)
        case let error as StoreError: self.init(error)
        default: self.init(StoreError(.other, "a push ended with an unknown error"))
        }
    }
}
