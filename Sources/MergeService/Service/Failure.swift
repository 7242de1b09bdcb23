package import MergeCore
package import RecordStore

/// The reason for which a request has no result.
package struct Failure: Error, Sendable {
    /// The problem that the client is told of.
    package let problem: Problem
    /// The database's own words, for the log.
    package let cause: StoreError?

    init(problem: Problem, cause: StoreError?) {
        self.problem = problem
        self.cause = cause
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
