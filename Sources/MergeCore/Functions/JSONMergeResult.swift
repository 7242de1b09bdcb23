/// The result of a merge of JSON values.
package struct JSONMergeResult: Sendable, Hashable {
    /// The merged value.
    package let tree: JSONTree
    /// The members that both sides changed differently, in the order of the merge.
    package let parts: [JSONPart]
}
