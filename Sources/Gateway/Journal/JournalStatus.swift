import MergeCore
package import MergeService
import MergeWire
package import RecordStore

/// Which journal a gateway keeps and what that promises.
package enum JournalStatus: Sendable {
    /// In the same transaction as the merge, so that both happen or neither.
    case together(Journal)
    /// In a store of its own, written before the merge is committed and settled afterwards.
    case aside(Journal, place: String)
    /// Nothing is kept.
    case off

    var journal: Journal? {
        switch self {
        case .together(let journal), .aside(let journal, _): journal
        case .off: nil
        }
    }

    /// One sentence for operators.
    package var promise: String {
        switch self {
        case .together(let journal):
            "the journal “\(journal.tables.schema)” is written in the same transaction as the merge"
        case .aside(_, let place):
            "the journal \(place) cannot take part in the merge's transaction: it is written first, and what a crash leaves "
                + "open is settled by the rows, which is certain unless another program has changed them meanwhile"
        case .off: "no journal is kept: keys are only echoed, and what is overwritten is gone"
        }
    }
}

extension MergeService {
    /// The service with the wire's own forms.
    package static func gateway(
        _ engine: any RecordEngine, _ limits: MergeLimits = MergeLimits()
    ) -> MergeService {
        MergeService(
            engine: engine, limits: limits, digest: CanonicalJSON.digest,
            form: { AnswerForm.encode($0, $1, limit: limits.answerBytes) })
    }
}
