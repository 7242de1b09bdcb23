import MergeCore
import MergeService
import RecordStore

/// The reason why a journal command failed, in one sentence.
package struct JournalFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The problem and the remedy, without a full stop.
    package let description: String

    /// - Parameter sentence: without a full stop.
    package init(_ sentence: String) {
        description = sentence
    }

    init(_ error: any Error) {
        switch error {
        case let problem as Problem: self.init(Self.sentence(problem))
        case let failure as Failure: self.init(failure.cause?.description ?? Self.sentence(failure.problem))
        case let error as StoreError: self.init(error.description)
        case let fault as JournalFault: self = fault
        default: self.init("\(error)")
        }
    }

    private static func sentence(_ problem: Problem) -> String {
        var detail = problem.detail
        if detail.hasSuffix(".") { detail.removeLast() }
        guard let path = problem.path?.text, !path.isEmpty else { return detail }
        return path + ": " + detail
    }
}
