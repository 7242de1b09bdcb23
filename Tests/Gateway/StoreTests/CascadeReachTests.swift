import MergeCore
import RecordStore
import Testing

/// The tables that the database may change with writes to other tables.
@Suite struct CascadeReachTests {
    private static func name(_ table: String) -> TableName { TableName(name: table) }

    /// Each foreign key as “child.column > target.column” with its actions.
    private static func schema(
        _ keys: [(own: String, target: String, onDelete: Cascade.Effect?, onUpdate: Cascade.Effect?)]
    ) -> DatabaseSchema {
        var dependents: [TableName: [Dependent]] = [:]
        for key in keys {
            let (own, target) = (key.own.split(separator: "."), key.target.split(separator: "."))
            dependents[name(String(target[0])), default: []].append(
                Dependent(
                    constraint: key.own, table: name(String(own[0])), columns: [String(own[1])],
                    target: name(String(target[0])), targetColumns: [String(target[1])], onDelete: key.onDelete,
                    onUpdate: key.onUpdate))
        }
        return DatabaseSchema(tables: [:], allNames: [], dependents: dependents)
    }

    @Test(
        "Tables are reached over all steps",
        arguments: [
            // Deletions follow deletions.
            (["b.a > a.id delete -", "c.b > b.id delete -"], "a", "", "b c"),
            // A key that sets NULL ends a chain of deletions.
            (["b.a > a.id set-null -", "c.b > b.id delete -"], "a", "", "b"),
            // A change to NULL continues if a key follows changes.
            (["b.a > a.id set-null -", "c.b > b.a - update", "d.c > c.b - set-null"], "a", "", "b c d"),
            // A change that no key follows reaches nothing.
            (["b.a > a.code - update"], "a", "name", ""),
            (["b.a > a.code - update", "c.b > b.a - update"], "a", "code", "b c"),
            // Circles end.
            (["a.parent > a.id delete -", "b.a > a.id delete update", "a.b > b.a set-null update"], "a", "b", "a b"),
        ])
    func reach(_ keys: [String], _ table: String, _ written: String, _ expected: String) {
        let parsed = keys.map { key in
            let words = key.split(separator: " ").map(String.init)
            return (
                own: words[0], target: words[2], onDelete: Cascade.Effect(rawValue: words[3]),
                onUpdate: Cascade.Effect(rawValue: words[4])
            )
        }
        let writes = [Self.name(table): Set(written.split(separator: " ").map(String.init))]
        let reached = Self.schema(parsed).tablesChangedAlong(withWritesTo: writes)
        #expect(Set(reached.map(\.name)) == Set(expected.split(separator: " ").map(String.init)))
    }
}
