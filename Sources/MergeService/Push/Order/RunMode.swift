import MergeCore

/// The mode of a run: as few statements as possible until an edit is refused.
///
/// A run that meets a problem ends, and the next run uses another mode.
struct RunMode: Sendable {
    private static let maximumCollisions = 3

    /// After a refusal, edits run one by one with savepoints, so that the answer contains the conflicts of all edits.
    private(set) var isEditByEdit = false
    /// Edits that are refused in every further run, by position.
    private(set) var refusals: [Int: Problem] = [:]
    /// True if each insertion of an `atomic: edit` push is checked for lists that are too long.
    private(set) var measuresEachEdit = false
    private var collisions = 0

    /// The mode of a batch whose pushes share a transaction.
    static let shared = RunMode(refusals: [:])

    /// The first mode of a push that runs alone.
    init(_ push: PushItem) { self.init(refusals: push.refusals) }

    private init(refusals: [Int: Problem]) {
        self.refusals = refusals
        isEditByEdit = !refusals.isEmpty
    }

    var writesTogether: Bool { !isEditByEdit }

    /// True if a run may repeat the search for a row that was created concurrently.
    ///
    /// The search fails forever if the colliding row belongs to the push itself or is hidden.
    var mayLookAgain: Bool { collisions < Self.maximumCollisions }

    func changed(by reason: RunAgain) -> RunMode {
        var mode = self
        switch reason {
        case .editByEdit: mode.isEditByEdit = true
        case .lookAgain: mode.collisions += 1
        case .measuringEachEdit: mode.measuresEachEdit = true
        case .without(let edit, let problem): mode.refusals[edit] = problem
        case .alone: preconditionFailure("Only a push in a shared transaction leaves it.")
        }
        return mode
    }
}

/// The reason to run a transaction again from the start.
enum RunAgain {
    case editByEdit
    /// Another transaction created a row concurrently; the next run merges with it.
    case lookAgain
    /// Edits of an `atomic: edit` push made a list too long to read.
    case measuringEachEdit
    /// The edit is refused for a reason that appeared only after all writes.
    case without(Int, Problem)
    /// The work must not share a transaction, so each push runs in its own.
    case alone
}
