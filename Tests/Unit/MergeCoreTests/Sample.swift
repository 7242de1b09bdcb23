import MergeCore

/// A section with a group of one field and a group of two.
enum Sample {
    static func section(
        _ conflict: ConflictPolicy = .clientWins, missing: MissingPolicy = .drop,
        deleting: DeleteConflictPolicy = .delete, merge: MergeFunction? = nil, frozenWhen: Ruled<String>? = nil
    ) -> Section {
        let number = ColumnType.integer(-1_000...1_000)
        var rules = SectionRules()
        rules.onMissing = Ruled(missing)
        rules.onDeleteConflict = Ruled(deleting)
        rules.frozenWhen = frozenWhen
        return Section(
            name: "items", kind: .list,
            table: SectionTable(
                TableName(name: "items"),
                columns: ["id", "a", "b", "c"].map { Column(name: $0, type: number, isNullable: false) }, keyCount: 1,
                generatedKeyColumn: 0),
            fields: SectionFields(
                [Field(name: "a", column: 1), Field(name: "b", column: 2), Field(name: "c", column: 3)],
                groups: [
                    Group(name: "a", fields: 0..<1, onConflict: Ruled(conflict), merge: merge.map { Ruled($0) }),
                    Group(name: "bc", fields: 1..<3, onConflict: Ruled(conflict)),
                ]), rules: rules)
    }

    static func row(_ id: Int, _ a: Int, _ b: Int, _ c: Int) -> [Value] {
        [id, a, b, c].map { .integer(Int128($0)) }
    }

    static func values(_ fields: [Int], _ numbers: [Int]) -> FieldValues {
        FieldValues(fields: fields, values: numbers.map { .integer(Int128($0)) })
    }

    static func edit(_ group: Int, _ base: [Int], _ edited: [Int]) -> GroupEdit {
        let fields = group == 0 ? [0] : [1, 2]
        return GroupEdit(
            group: group, base: .values(values(fields, base)), edited: values(fields, edited), path: WirePath("x"),
            isRowForm: false)
    }

    static let key = RecordKey([.integer(7)])

    static func decider(_ section: Section) -> RowDecider { RowDecider(section: section) { _, _ in [] } }
}
