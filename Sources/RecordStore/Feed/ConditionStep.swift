/// The values that conditions of access look at in a record, before a change and after it, as bytes that only the rules of
/// access understand.
package struct ConditionStep: Sendable, Hashable {
    /// nil where there was no record.
    package let before: [UInt8]?
    /// nil where no record is left.
    package let after: [UInt8]?

    /// Goes from one tuple to another.
    package init(before: [UInt8]?, after: [UInt8]?) {
        self.before = before
        self.after = after
    }
}
