/// The rows of a resource's root that a client sees, as a database can be asked for them: those of one of several
/// alternatives, each of which tests some columns.
///
/// It may let more rows through than the client sees, since a database compares by collation; never fewer.
package struct RowFilter: Sendable, Hashable {
    /// A test of a column that a database can make.
    package indirect enum Test: Sendable, Hashable {
        case oneOf([Value])
        case null
        case not(Test)
        case any([Test])
        case before(Value)
        case after(Value)
    }

    /// All tests of one alternative have to be met; by the position of the column.
    package let alternatives: [[Int: Test]]
    /// A database lets through exactly the rows that the client sees.
    package let isExact: Bool
    /// More values than this are judged in the gateway alone.
    private static let mostValues = 200
}

extension ResourceView {
    /// The rows that the client sees; nil where a database cannot tell any from others.
    package var rowFilter: RowFilter? {
        var alternatives: [[Int: RowFilter.Test]] = []
        var isExact = true
        for grant in grants where !grant.tests.contains(.never) {
            var tests: [Int: RowFilter.Test] = [:]
            for (condition, test) in zip(grant.role.conditions, grant.tests) {
                let column = resource.root.columns[condition.column]
                tests[condition.column] = RowFilter.test(test, column)
                if tests[condition.column] == nil || !column.comparesByValue { isExact = false }
            }
            // Every row may be among those of this role.
            if tests.isEmpty { return nil }
            alternatives.append(tests)
        }
        return RowFilter(alternatives: alternatives, isExact: isExact)
    }
}

extension RowFilter {
    /// nil where a database could leave a row out that the gateway would show.
    fileprivate static func test(_ test: SettledTest, _ column: Column) -> Test? {
        switch test {
        case .never: return .oneOf([])
        case .null: return .null
        case .oneOf(let values):
            guard values.count <= mostValues, column.findsEqual else { return nil }
            return .oneOf(values)
        case .any(let tests):
            let made = tests.compactMap { self.test($0, column) }
            return made.count == tests.count ? .any(made) : nil
        case .not(let denied):
            // What a collation equates is not the same.
            guard column.comparesByValue else { return nil }
            return self.test(denied, column).map { .not($0) }
        case .before(let end): return column.comparesByValue ? .before(end) : nil
        case .after(let start): return column.comparesByValue ? .after(start) : nil
        }
    }
}

extension Column {
    /// A database compares its values as the gateway does.
    fileprivate var comparesByValue: Bool {
        if isLoose { return false }
        return switch type {
        case .boolean, .integer, .bit, .year, .decimal, .date, .dateTime, .timestamp: true
        default: false
        }
    }

    /// A database finds every value that is equal, maybe among others.
    fileprivate var findsEqual: Bool {
        switch type {
        case .boolean, .integer, .bit, .year, .decimal, .date, .dateTime, .timestamp, .text: true
        default: false
        }
    }
}
