/// The reason for which a merge of JSON came to no result.
package enum JSONMergeFault: Error {
    /// Both sides changed more than can be told part by part.
    case tooManyParts
    /// The merge takes more steps than are left.
    case workSpent
}
