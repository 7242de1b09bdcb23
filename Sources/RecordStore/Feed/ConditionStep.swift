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

extension ConditionStep {
    /// Returns the steps from one tag to the next that a scan has found; the last is what the record held by then.
    package static func steps(through tags: [ConditionTag]) -> [ConditionStep] {
        guard let last = tags.last else { return [] }
        return tags.map { ConditionStep(before: $0.bytes, after: last.bytes) }
    }
}
