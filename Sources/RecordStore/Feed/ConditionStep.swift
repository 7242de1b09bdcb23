/// The condition columns of a record before and after a change, as bytes that only the access code decodes.
package struct ConditionStep: Sendable, Hashable {
    /// The values before; nil if there was no record.
    package let before: [UInt8]?
    /// The values after; nil if the record is gone.
    package let after: [UInt8]?

    /// Describes a change of values.
    package init(before: [UInt8]?, after: [UInt8]?) {
        self.before = before
        self.after = after
    }
}

extension ConditionStep {
    /// Returns the steps through the tags of a foreign change.
    ///
    /// The last tag is the record's current one, or `.none` if the record is gone.
    package static func steps(through tags: [ConditionTag]) -> [ConditionStep] {
        let after = tags.last.flatMap { $0 == .none ? nil : $0.bytes }
        return tags.filter { $0 != .none }.map { ConditionStep(before: $0.bytes, after: after) }
    }
}
