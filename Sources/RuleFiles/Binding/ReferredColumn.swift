import MergeCore
import RecordStore

/// A condition's path to a column of a referred row: `order_id.technician`.
struct ReferredColumn: Sendable, Hashable {
    let along: String
    /// The column of the referred row, or a longer path.
    let column: String

    /// Splits a path, or returns nil if it names a column of the table itself or has no dot.
    init?(_ path: Placed<String>, from table: TableSchema) {
        guard table.column(path.value) == nil, let dot = path.value.firstIndex(of: ".") else { return nil }
        along = String(path.value[..<dot])
        column = String(path.value[path.value.index(after: dot)...])
    }

    /// Returns true if a column of a section is the one that the path names.
    func names(_ shown: Column) -> Bool {
        shown.lookup.map { $0.own.name == along && $0.column.name == column } ?? false
    }
}

/// The columns of referred rows that access conditions test.
extension SectionBinder {
    /// Adds the columns of the root that roles name.
    mutating func addConditions(_ access: RuleAccess) {
        for name in access.columns where table.column(name.value) != nil { _ = add(name.value, name.place) }
        for name in access.tested {
            guard let path = ReferredColumn(name, from: table), let rule = referred(path, at: name.place) else {
                continue
            }
            addReferred(rule)
        }
    }

    private mutating func referred(_ path: ReferredColumn, at place: Place) -> RuleLookup? {
        guard table.column(path.along) != nil else {
            findings.error(
                place,
                "the root's table “\(table.name)” has no column “\(path.along)”"
                    + nearest(path.along, table.columns.map(\.name)))
            return nil
        }
        func placed(_ text: String) -> Placed<String> { Placed(value: text, place: place) }
        if path.column.contains(".") {
            findings.error(
                place,
                "“\(path.along).\(path.column)” follows several references, and a condition follows one; name a column of "
                    + "the row to which “\(path.along)” refers")
            return nil
        }
        return RuleLookup(
            name: placed(path.along + "." + path.column), along: placed(path.along), column: placed(path.column),
            use: .condition)
    }
}
