import MergeCore
import Testing

@testable import MergeService

/// The logical times of writes: a row is read again if a later write may have changed it.
@Suite struct RowChangesTests {
    private static let one = RowName(table: "orders", columns: ["id"], key: RecordKey([.integer(1)]))
    private static let two = RowName(table: "orders", columns: ["id"], key: RecordKey([.integer(2)]))

    struct Case: Sendable {
        let reach: Footprint.Reach
        /// Whether the written row, another row of its table, and a row of another table may have changed.
        let changed: [Bool]
    }

    @Test(
        "A write changes the rows within its reach",
        arguments: [
            Case(reach: .row, changed: [true, false, false]), Case(reach: .otherTables, changed: [true, false, true]),
            Case(reach: .everything, changed: [true, true, true]),
        ])
    func reach(_ test: Case) {
        var changes = RowChanges()
        changes.note(Self.one, test.reach, moves: false)
        let line = RowName(table: "lines", columns: ["id"], key: RecordKey([.integer(1)]))
        let found = [(Self.one, "orders"), (Self.two, "orders"), (line, "lines")].map {
            changes.mayHaveChanged($0, in: $1, since: 0)
        }
        #expect(found == test.changed)
        #expect(!changes.mayHaveChanged(Self.one, in: "orders", since: changes.now))
    }

    @Test("A second write of a row returns the time of the first")
    func previousChange() {
        var changes = RowChanges()
        #expect(changes.note(Self.one, .row, moves: false) == nil)
        let first = changes.now
        #expect(changes.note(Self.two, .row, moves: false) == nil)
        #expect(changes.note(Self.one, .row, moves: false) == first)
    }

    @Test("A write of a table is recorded even if its row is not")
    func tables() {
        var changes = RowChanges()
        changes.note(inTable: "orders", .row)
        #expect(changes.hasWritten("orders", since: 0))
        #expect(!changes.hasWritten("orders", since: changes.now))
        #expect(!changes.hasWritten("lines", since: 0))
    }

    @Test("After a rollback every row may have changed")
    func rollback() {
        var changes = RowChanges()
        changes.recordEverything()
        #expect(changes.mayHaveChanged(Self.two, in: "orders", since: 0))
        #expect(changes.mayHaveChanged(nil, in: "lines", since: 0))
    }
}
