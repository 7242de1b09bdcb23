import MergeCore
package import MergeService
import RecordStore

/// The kind of a gateway's journal, and its guarantee.
package enum JournalStatus: Sendable {
    /// The merge's transaction writes the journal, so that both commit or neither.
    case together(Journal)
    /// A separate store has the journal, which is written before the merge commits and completed afterwards.
    case ahead(Journal, place: String)
    case off

    /// The journal; nil if there is none.
    package var journal: Journal? {
        switch self {
        case .together(let journal), .ahead(let journal, _): journal
        case .off: nil
        }
    }

    /// The schema or the file of the journal, or “off”.
    package var name: String {
        switch self {
        case .together(let journal): journal.tables.schema
        case .ahead(_, let place): place
        case .off: "off"
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
        case .off: "the journal is off: keys are only echoed, and overwritten values are lost"
        }
    }
}
