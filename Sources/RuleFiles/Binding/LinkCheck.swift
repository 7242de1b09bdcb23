import MergeCore
import RecordStore

/// Checks that the values of two columns that link rows can be compared exactly.
struct LinkCheck {
    struct End {
        let table: TableSchema
        let column: ColumnSchema
        /// The type of the column in the rules.
        let type: ColumnType

        /// Returns nil if the table has no such column, or if the column has no type.
        init?(_ name: String, of table: TableSchema, type: ColumnType?) {
            guard let column = table.column(name), let type = type ?? column.types.first else { return nil }
            self.table = table
            self.column = column
            self.type = type
        }

        /// The kind of values in the column.
        ///
        /// A database without date types returns a date in a key as text. But no text column contains only dates.
        fileprivate var kind: (values: ComparisonKind, name: String)? {
            let kept = column.types.first.flatMap { $0.isDateOrTime ? $0 : nil } ?? type
            return kept.comparison.map { ($0, kept.name) }
        }

        fileprivate var words: String { "column “\(column.name)” (\(column.declaredType)) of table “\(table.name)”" }
    }

    let own: End
    let target: End

    /// The reason why the columns cannot link rows, or nil if they can.
    var fault: String? {
        guard let kind = own.kind, let other = target.kind else {
            return "\(own.words) and \(target.words) cannot be compared exactly, so they tie no rows to each other"
        }
        if kind.values == other.values { return nil }
        return "\(own.words) and \(target.words) contain values of different kinds (\(kind.name) and "
            + "\(other.name)), so they tie no rows to each other; FieldMerge compares values of one kind only"
    }

    /// The names of the columns for the warning about collations, or nil if the database compares their texts exactly.
    var inexactTexts: String? {
        guard own.type.comparison == .text, target.type.comparison == .text else { return nil }
        let collations = [own.column.collation, target.column.collation].compactMap(\.self)
        if collations.allSatisfy(\.isExact) { return nil }
        return "“\(own.column.name)” of table “\(own.table.name)” and “\(target.column.name)” of table "
            + "“\(target.table.name)”"
    }
}

/// Collects columns whose collations equate different texts, for a single warning.
struct CollationAdvice {
    private var columns: [String] = []
    private var first: Place?
    private static let most = 5

    mutating func note(_ names: String?, _ place: Place) {
        guard let names, !columns.contains(names) else { return }
        columns.append(names)
        first = first ?? place
    }

    mutating func add(_ other: CollationAdvice) {
        guard let place = other.first else { return }
        for names in other.columns { note(names, place) }
    }

    func add(to findings: inout Findings) {
        guard let first else { return }
        let rest = columns.count - Self.most
        findings.warning(
            first,
            "the database takes some different texts for equal, by the collation of these columns: "
                + columns.prefix(Self.most).joined(separator: "; ") + (rest > 0 ? "; and \(rest) more" : "")
                + "; FieldMerge compares their characters, so rows that differ in case or trailing blanks belong to no "
                + "record")
    }
}
