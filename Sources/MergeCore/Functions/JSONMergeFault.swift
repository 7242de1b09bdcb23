/// The reason why a merge of JSON has no result.
package enum JSONMergeFault: Error {
    /// Both sides changed too much to report each part.
    case tooManyParts
    case workSpent
}
