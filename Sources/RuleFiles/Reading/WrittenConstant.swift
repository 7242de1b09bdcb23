package import MergeCore

/// A constant of a rule file that a write may put into a column: the target of a transition, or a stamp.
package struct WrittenConstant: Sendable, Hashable {
    /// The name of the resource.
    package let resource: String
    /// The name of the section.
    package let section: String
    /// The name of the column.
    package let column: String
    /// The location of the constant.
    package let place: Place
    private let constant: RuleConstant

    init(_ constant: Placed<RuleConstant>, column: String, section: String, resource: String) {
        self.constant = constant.value
        place = constant.place
        self.column = column
        self.section = section
        self.resource = resource
    }

    /// The constant as written.
    package var text: String { constant.text }

    /// Returns the constant as a value of a column, or nil if the column cannot store it.
    package func value(in type: ColumnType) -> Value? { constant.value(in: type) }
}

extension RuleSection {
    var writtenConstants: [(column: String, constant: Placed<RuleConstant>)] {
        let steps = groups.flatMap { group in
            (group.transitions?.value ?? []).flatMap(\.to).compactMap { constant in
                group.fields.first.map { (column: $0.column.value, constant: constant) }
            }
        }
        return steps
            + stamps.compactMap { stamp in
                if case .value(let constant) = stamp.source { (stamp.column.value, constant) } else { nil }
            }
    }
}
