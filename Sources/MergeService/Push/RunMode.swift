import MergeCore

/// The way in which a batch runs: as few statements as possible as long as nothing is refused.
///
/// What a run finds out is told by the next one, which runs in another mode; so a run itself never looks back.
struct RunMode: Sendable {
    private static let maximumCollisions = 3

    /// Edits run one by one, each behind a savepoint, because one of them is refused and the client is told what the
    /// others would have met.
    private(set) var isEditByEdit = false
    /// Edits of the push that are refused in any run from now on, by their positions.
    private(set) var refusals: [Int: Problem] = [:]
    /// Edits of `atomic: edit` that insert are refused one by one if they make a list too long.
    private(set) var measuresEachEdit = false
    private var collisions = 0

    /// Begins with edits that are refused in any run: they need rows that an earlier push would have created, or the
    /// client may not make them.
    init(_ batch: PushBatch) {
        // What is refused does not share a transaction.
        refusals = batch.isShared ? [:] : batch.items[0].refusals
        isEditByEdit = !refusals.isEmpty
    }

    /// Several rows may be written with one statement.
    var writesTogether: Bool { !isEditByEdit }

    /// A row that came into being beside the push may be looked for again.
    ///
    /// It is not found for ever where the push itself, or something that it cannot see, is in the way.
    var mayLookAgain: Bool { collisions < Self.maximumCollisions }

    /// Returns the mode of the next run.
    func changed(by reason: RunAgain) -> RunMode {
        var mode = self
        switch reason {
        case .editByEdit: mode.isEditByEdit = true
        case .lookAgain: mode.collisions += 1
        case .measuringEachEdit: mode.measuresEachEdit = true
        case .without(let edit, let problem): mode.refusals[edit] = problem
        }
        return mode
    }
}

/// The reason for which a transaction has to run again from the start.
enum RunAgain: Error {
    /// One of several edits is refused.
    case editByEdit
    /// A row was created by another at the same time; the next run merges with it.
    case lookAgain
    /// Edits of `atomic: edit` have made a list longer than clients can read.
    case measuringEachEdit
    /// The edit at a position of the push is refused for a reason that only showed when all was written.
    case without(Int, Problem)
}
