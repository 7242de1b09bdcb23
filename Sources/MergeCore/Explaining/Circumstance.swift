/// The situation in which an outcome occurred.
enum Circumstance {
    case edit
    /// The client created the row, but the row exists.
    case creation
    case deletion
    /// The row is deleted along with its record.
    case deletionOfRecord
    /// The record is gone, so its rows cannot be changed.
    case recordIsGone
}
