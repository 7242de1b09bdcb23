/// The records that a client has chosen: conditions on fields of root sections, by resource.
///
/// A filter is no right. It limits only what the feed and snapshots send.
package struct RecordFilter: Sendable, Hashable {
    /// A test of one field, as the client sent it.
    package enum Test: Sendable, Hashable {
        /// The field contains one of these values, which may include null.
        case oneOf([Scalar])
        /// The field is at least `from` and less than `before`; at least one of them is present.
        case range(from: Scalar?, before: Scalar?)
    }

    /// A test with the name of its field.
    package struct Condition: Sendable, Hashable {
        /// The name of the root section.
        package let section: String
        /// The name of the field.
        package let field: String
        /// The test of the field.
        package let test: Test

        /// Creates a condition.
        package init(section: String, field: String, test: Test) {
            self.section = section
            self.field = field
            self.test = test
        }
    }

    /// The conditions of each resource with an entry, joined by AND.
    package let conditions: [ExactText: [Condition]]

    /// Creates a filter.
    package init(_ conditions: [ExactText: [Condition]]) {
        self.conditions = conditions
    }

    /// Returns the conditions on a resource; empty if all its records match.
    package func conditions(on resource: Resource) -> [Condition] { conditions[ExactText(resource.name)] ?? [] }

    /// Returns the filter with the conditions on one resource only.
    package func only(_ resource: Resource) -> RecordFilter {
        RecordFilter([ExactText(resource.name): conditions(on: resource)])
    }
}

extension RecordFilter.Test {
    /// Returns the test for a column, whose values are in the column's type.
    ///
    /// - Throws: `ValueProblem` if the column cannot contain a value, or if its values have no order.
    package func settled(in column: Column) throws(ValueProblem) -> SettledTest {
        switch self {
        case .oneOf(let scalars):
            var values: [Value] = []
            var tests: [SettledTest] = []
            for scalar in scalars {
                let value = try column.filterValue(scalar)
                if value.isNull { tests = [.null] } else { values.append(value) }
            }
            if !values.isEmpty || tests.isEmpty { tests.append(.oneOf(values)) }
            return tests.count == 1 ? tests[0] : .any(tests)
        case .range(let from, let before):
            var tests: [SettledTest] = []
            if let from {
                let start = try column.filterBound(from)
                tests.append(.any([.oneOf([start]), .after(start)]))
            }
            if let before { tests.append(.before(try column.filterBound(before))) }
            return tests.count == 1 ? tests[0] : .all(tests)
        }
    }
}

extension Column {
    /// Converts a value of a filter to the column's type; null is allowed in every column.
    ///
    /// - Throws: `ValueProblem` if the column cannot contain the value.
    package func filterValue(_ scalar: Scalar) throws(ValueProblem) -> Value {
        if scalar == .null, !isNullable, case .json = type { return .json(.null) }
        let value = try type.accept(scalar)
        if case .numeric = type, let problem = type.forbidsWriting(value) { throw problem }
        return value
    }

    /// Converts a bound of a range to the column's type.
    ///
    /// - Throws: `ValueProblem` if the column cannot contain the value, or if its values have no order.
    package func filterBound(_ scalar: Scalar) throws(ValueProblem) -> Value {
        let value = try filterValue(scalar)
        guard value.precedes(value, in: type) != nil else {
            throw ValueProblem(type.isOrdered ? "has no order" : "is a bound, and values of this field have no order")
        }
        return value
    }
}

/// A condition of a filter, bound to a root's column.
struct FieldTest: Sendable {
    /// The position of the column in the root's `columns`.
    let column: Int
    /// The position of the field in the root's `shown`.
    let shown: Int
    let test: SettledTest

    /// Binds a condition, or returns nil if the resource no longer has such a field or value.
    ///
    /// The gateway refuses such a filter before it is used.
    init?(_ condition: RecordFilter.Condition, of root: Section) {
        guard root.name.isExactly(condition.section),
            let shown = root.shown.firstIndex(where: { $0.name.isExactly(condition.field) }),
            let test = try? condition.test.settled(in: root.columns[root.shown[shown].column])
        else { return nil }
        self.shown = shown
        self.test = test
        column = root.shown[shown].column
    }
}
