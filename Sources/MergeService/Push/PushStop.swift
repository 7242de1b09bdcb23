import MergeCore
import RecordStore

/// The reason why a run of a push ends early, or why it refuses an edit.
enum PushStop: Error {
    case store(StoreError)
    case refused(EditRefusal)
    case again(RunAgain)
    /// A fault of the request that only the database could show (400).
    case fault(Problem)

    /// The refusal of an edit.
    static func refused(_ edit: Int, _ problem: Problem) -> PushStop {
        .refused(EditRefusal(edit: edit, problem: problem))
    }
}

/// An edit that the rules or the database refuse.
struct EditRefusal: Error {
    /// The position of the edit in its batch.
    let edit: Int
    let problem: Problem
}
