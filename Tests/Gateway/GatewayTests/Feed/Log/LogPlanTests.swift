import MergeCore
import RecordStore
import Testing

@testable import ChangeFeed

/// The tables that are read from a row log, and the effect of logged transactions on sections.
@Suite struct LogPlanTests {
    private static let plan = LogPlan(LoggedOrders.units, LoggedOrders.feed)
    private typealias Units = LoggedOrders

    private static func table(_ name: String) throws -> Int {
        try #require(plan.tables.firstIndex { $0.name.name == name })
    }

    /// A change of a table, with the values of its columns in the order of the plan.
    private static func change(_ name: String, _ before: [Value?]?, _ after: [Value?]?) throws -> LoggedChange {
        LoggedChange(table: try table(name), before: before, after: after)
    }

    private static func effects(_ changes: LoggedChange...) -> LogPlan.Effects {
        plan.effects(of: [LoggedTransaction(changes: changes)])
    }

    /// The records that the pushes of the changed orders report.
    private static func reported(_ effects: LogPlan.Effects) -> [Set<RecordName>] {
        (effects.changes[LoggedOrders.orderUnit] ?? []).map(\.reported)
    }

    /// The packed key and link of a row.
    private static func row(_ unit: Int, _ values: Int128...) throws -> Mark {
        try #require(LoggedOrders.units[unit].mark(values.map { Value.integer($0) }[...], digest: 0))
    }

    @Test("Each table is read once, with the columns that identify rows and their records")
    func tables() throws {
        #expect(Self.plan.tables.map(\.name.name) == ["pending", "orders", "clerks", "lines"])
        #expect(try Self.plan.tables[Self.table("orders")].columnNames == ["id"])
        #expect(try Self.plan.tables[Self.table("lines")].columnNames == ["id", "order_id"])
        #expect(try Self.plan.tables[Self.table("clerks")].columnNames == ["id", "name"])
    }

    @Test("A table concerns each section that contains or shows its rows")
    func unitsOfTables() throws {
        #expect(try Self.plan.units(of: [Self.table("lines")]) == [Units.linesUnit, Units.lineUnit])
        #expect(try Self.plan.units(of: [Self.table("clerks")]) == [Units.orderUnit])
        #expect(try Self.plan.units(of: [Self.table("pending")]) == [])
        #expect(Self.plan.units(of: []) == [])
    }

    @Test("A row of two resources is a change of both, with the record before and after")
    func sharedRow() throws {
        let effects = Self.effects(try Self.change("lines", [.integer(5), .integer(1)], [.integer(5), .integer(2)]))
        #expect(effects.passes == [])
        #expect(Set(effects.changes.keys) == [Units.linesUnit, Units.lineUnit])
        let listed = try #require(effects.changes[Units.linesUnit]?.first?.row)
        #expect(try listed.former == Self.row(Units.linesUnit, 5, 1))
        #expect(try listed.now == Self.row(Units.linesUnit, 5, 2))
        let own = try #require(effects.changes[Units.lineUnit]?.first?.row)
        #expect(try own.former == Self.row(Units.lineUnit, 5))
        #expect(own.now == own.former)
    }

    @Test("An insertion has no row before, and a deletion none after")
    func insertionAndDeletion() throws {
        let effects = Self.effects(
            try Self.change("orders", nil, [.integer(1)]), try Self.change("orders", [.integer(2)], nil))
        let rows = try #require(effects.changes[Units.orderUnit]).map(\.row)
        #expect(rows.map { $0.former == nil } == [true, false])
        #expect(rows.map { $0.now == nil } == [false, true])
    }

    /// With binlog_row_image MINIMAL, the log lacks columns.
    @Test("A row without a value that identifies its record leads to a pass over that section only")
    func missingValue() throws {
        let effects = Self.effects(try Self.change("lines", [.integer(5), nil], [.integer(5), nil]))
        #expect(effects.passes == [Units.linesUnit])
        #expect(Set(effects.changes.keys) == [Units.lineUnit])
        let keyless = Self.effects(try Self.change("lines", [nil, .integer(1)], [nil, .integer(1)]))
        #expect(keyless.passes == [Units.linesUnit, Units.lineUnit])
        #expect(keyless.changes.isEmpty)
    }

    @Test("An incomplete table leads to passes over its sections")
    func incomplete() throws {
        let effects = Self.plan.effects(of: [LoggedTransaction(incomplete: [try Self.table("lines")])])
        #expect(effects.passes == [Units.linesUnit, Units.lineUnit])
        #expect(effects.changes.isEmpty)
    }

    @Test(
        "A referred row leads to a pass only if its key or the shown column differs",
        arguments: [
            ([.integer(1), .text(ExactText("a"))], [.integer(1), .text(ExactText("b"))], true),
            ([.integer(1), .text(ExactText("a"))], [.integer(2), .text(ExactText("a"))], true),
            ([.integer(1), .text(ExactText("a"))], [.integer(1), .text(ExactText("a"))], false),
            (nil, [.integer(1), .text(ExactText("a"))], true),
            ([.integer(1), .text(ExactText("a"))], nil, true),
        ] as [([Value?]?, [Value?]?, Bool)])
    func lookups(_ before: [Value?]?, _ after: [Value?]?, _ needsPass: Bool) throws {
        let effects = Self.effects(try Self.change("clerks", before, after))
        #expect(effects.passes == (needsPass ? [Units.orderUnit] : []))
        #expect(effects.changes.isEmpty)
    }

    /// The push has a separate transaction, or one with writes of a trigger.
    @Test("A push reports records of its transaction only")
    func pushes() throws {
        let name = RecordName(resource: "orders", record: "1")
        let run = PendingRun(changes: [
            PendingRun.Change(position: 0, name: name, sender: Sender(who: "", device: nil))
        ])
        let inserted = try Self.change("pending", nil, [.bytes(run.bytes)])
        let own = LoggedTransaction(changes: [inserted, try Self.change("orders", [.integer(1)], [.integer(1)])])
        let foreign = LoggedTransaction(changes: [try Self.change("orders", [.integer(1)], [.integer(1)])])
        let effects = Self.plan.effects(of: [own, foreign])
        #expect(Self.reported(effects) == [[name], []])
        // Sequencing deletes the row of `pending`, which reports nothing.
        let deleted = LoggedTransaction(changes: [
            try Self.change("pending", [.bytes(run.bytes)], nil), try Self.change("orders", nil, [.integer(1)]),
        ])
        #expect(Self.reported(Self.plan.effects(of: [deleted])) == [[]])
    }
}
