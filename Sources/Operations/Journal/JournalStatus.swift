import MergeCore
package import MergeService
import RecordStore

/// The journal that a gateway keeps, and what that promises.
package enum JournalStatus: Sendable {
    /// In the same transaction as the merge, so that both happen or neither.
    case together(Journal)
    /// In a store of its own, written before the merge is committed and settled afterwards.
    case ahead(Journal, place: String)
    /// Nothing is kept.
    case off

    /// The journal; nil where none is kept.
    package var journal: Journal? {
        switch self {
        case .together(let journal), .ahead(let journal, _): journal
        case .off: nil
        }
    }

    /// One sentence for operators.
    package var promise: String {
        switch self {
        case .together(let journal):
            "the journal “\(journal.tables.schema)” is written in the same transaction as the merge"
        case .ahead(_, let place):
            "the journal \(place) cannot take part in the merge's transaction: it is written first, and what a crash leaves "
                + "open is settled by the rows, which is certain unless another program has changed them meanwhile"
        case .off: "no journal is kept: keys are only echoed, and what is overwritten is gone"
        }
    }
}
