import MergeCore
import RecordStore

/// The target of a column, for a comment, and for the rules if the schema does not contain it.
struct ColumnReference {
    let comment: String
    /// The resource that the rules have to name.
    let named: String?

    /// Returns nil if the column is no reference.
    init?(_ column: ColumnSchema, in table: InspectedTable, _ placement: Placement) {
        if let key = table.schema.foreignKeys.first(where: { $0.columns == [column.name] }) {
            self.init(key, of: table.schema, placement)
            return
        }
        guard table.schema.foreignKeys.isEmpty,
            let target = placement.guess.target(of: column, in: table),
            let seat = placement[target.name], seat.isRoot
        else { return nil }
        self.init(
            comment: "perhaps a key of \(seat.resource); if so, write {column: \(YAMLText.scalar(column.name)), "
                + "references: \(YAMLText.scalar(seat.resource))}")
    }

    private init(comment: String, named: String? = nil) {
        self.comment = comment
        self.named = named
    }

    private init(_ key: ForeignKey, of table: TableSchema, _ placement: Placement) {
        guard let known = KnownForeignKey(key, of: table, among: placement.tables),
            let seat = placement[known.target.name]
        else {
            self.init(comment: "refers to table “\(key.target)”, which has no rules here")
            return
        }
        guard known.targetColumns == seat.key else {
            self.init(comment: "refers to table “\(key.target)”, though not by its key")
            return
        }
        // The schema is sufficient only if it has the same spelling.
        let isTold = known.target.name == key.target && known.targetColumns == key.targetColumns
        self.init(
            comment: "refers to \(seat.resource)" + (seat.isRoot ? "" : ", section \(seat.section)"),
            named: seat.isRoot && !isTold ? seat.resource : nil)
    }
}
