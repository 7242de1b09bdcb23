/// A fact beside an outcome that says why it is what it is.
enum Circumstance {
    case edit
    /// The client created the row without knowing that it exists.
    case creation
    case deletion
    /// The row goes because its record is deleted.
    case deletionOfRecord
    /// The record is gone, so nothing under it can be changed.
    case recordIsGone
}
