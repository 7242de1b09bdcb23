/// The client's filters on the rows of a resource.
extension ResourceView {
    /// The positions of the root's columns that filters test.
    package var filteredColumns: Set<Int> { Set(filters.joined().map(\.column)) }

    /// True if each role of the client reads every field that the filters test.
    var readsFiltersEverywhere: Bool {
        grants.allSatisfy { grant in filters.joined().allSatisfy { grant.role.reads[0].fields[$0.shown] } }
    }

    /// Returns true if a row matches a filter.
    ///
    /// A test of a field that the client may not read in this row fails, so that it reveals nothing.
    func matches(_ root: [Value], under roles: GrantSet) -> Bool {
        if filters.isEmpty { return true }
        let rights = sight(roles).sections[0]
        return filters.contains { tests in
            tests.allSatisfy { rights.fields[$0.shown] && isMet($0, by: root[$0.column]) }
        }
    }

    /// Returns true if a row may match a filter, of which only some values are known.
    ///
    /// - Parameter value: returns the value of a column, or nil if it is unknown.
    package func mayMatch(_ value: (Int) -> Value?) -> Bool {
        filters.isEmpty
            || filters.contains { tests in
                tests.allSatisfy { test in value(test.column).map { isMet(test, by: $0) } ?? true }
            }
    }

    private func isMet(_ test: FieldTest, by value: Value) -> Bool {
        test.test.isMet(by: value, of: resource.root.columns[test.column].type)
    }
}
