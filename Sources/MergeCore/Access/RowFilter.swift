/// The root rows that a client sees, as a database query can select them.
///
/// A row matches if it meets all tests of one alternative. A database compares by collation, so the filter may select
/// more rows than the client sees, but never fewer.
package struct RowFilter: Sendable, Hashable {
    /// A test of a column that a database can evaluate.
    package indirect enum Test: Sendable, Hashable {
        case oneOf([Value])
        case null
        case not(Test)
        case any([Test])
        case all([Test])
        case before(Value)
        case after(Value)
    }

    /// The alternatives, each with tests by column position.
    package let alternatives: [[Int: Test]]
    /// True if the database selects exactly the rows that the client sees.
    package let isExact: Bool
    /// Only the gateway evaluates a list with more values.
    private static let mostValues = 200
}

extension ResourceView {
    /// The rows that the client sees, or nil if a database cannot exclude any row.
    package var rowFilter: RowFilter? {
        var alternatives: [[Int: RowFilter.Test]] = []
        // A row in which no role reads a filter's field does not match, and a database does not test this.
        var isExact = filters.isEmpty || readsFiltersEverywhere
        for grant in grants where !grant.tests.contains(.never) {
            for chosen in filters.isEmpty ? [[]] : filters {
                let all =
                    zip(grant.role.conditions, grant.tests).map { (column: $0.column, test: $1) }
                    + chosen.map { (column: $0.column, test: $0.test) }
                var tests: [Int: [RowFilter.Test]] = [:]
                for (position, test) in all {
                    let column = resource.root.columns[position]
                    let made = RowFilter.test(test, of: column)
                    if made == nil || !column.comparesByValue { isExact = false }
                    if let made { tests[position, default: []].append(made) }
                }
                // This alternative may include every row.
                if tests.isEmpty { return nil }
                alternatives.append(tests.mapValues { $0.count == 1 ? $0[0] : .all($0) })
            }
        }
        return RowFilter(alternatives: alternatives, isExact: isExact)
    }
}

extension RowFilter {
    /// Returns nil if a database could exclude a row that the client sees.
    fileprivate static func test(_ test: SettledTest, of column: Column) -> Test? {
        switch test {
        case .never: return .oneOf([])
        case .null:
            // A JSON column may store the text null, which is NULL too.
            if case .json = column.type { return nil }
            return .null
        case .oneOf(let values):
            guard values.count <= mostValues, column.findsEqual else { return nil }
            return .oneOf(values)
        case .any(let tests):
            let made = tests.compactMap { self.test($0, of: column) }
            return made.count == tests.count ? .any(made) : nil
        case .all(let tests):
            let made = tests.compactMap { self.test($0, of: column) }
            return made.count == tests.count ? .all(made) : nil
        case .not(let denied):
            // Values that are equal only under a collation are different.
            guard column.comparesByValue else { return nil }
            return self.test(denied, of: column).map { .not($0) }
        case .before(let end): return column.comparesByValue ? .before(end) : nil
        case .after(let start): return column.comparesByValue ? .after(start) : nil
        }
    }
}

extension Column {
    /// True if a database compares the column's values as the gateway does.
    fileprivate var comparesByValue: Bool {
        if isLoose || isSpelled { return false }
        return switch type {
        case .boolean, .integer, .bit, .year, .decimal, .date, .dateTime, .timestamp: true
        default: false
        }
    }

    /// True if a database finds every equal value, perhaps with others.
    fileprivate var findsEqual: Bool {
        if isSpelled { return false }
        return switch uncoded?.type ?? type {
        case .boolean, .integer, .bit, .year, .decimal, .date, .dateTime, .timestamp, .text: true
        default: false
        }
    }
}
