import Foundation
import MergeCore
import RecordStore
import SQLiteStore
import Testing

@testable import MergeService

/// The rows that the database changes along with a row.
@Suite(.timeLimit(.minutes(1))) struct CascadeFinderTests {
    /// Finds the steps of a deletion or an update of parent 1.
    private static func steps(_ foreignKey: String, movingTo key: Int? = nil) async throws -> [CascadeFinder.Step] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fm-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let engine = try SQLiteEngine(path: folder.appending(path: "db").path(), creates: true)
        let statements = [
            "CREATE TABLE parents (id INTEGER PRIMARY KEY)",
            "CREATE TABLE children (id INTEGER PRIMARY KEY, parent INTEGER REFERENCES parents (id) \(foreignKey))",
            "CREATE TABLE toys (id INTEGER PRIMARY KEY, child INTEGER REFERENCES children (id) \(foreignKey))",
            "INSERT INTO parents VALUES (1), (2)",
            "INSERT INTO children VALUES (10, 1), (11, 1), (12, 2), (13, NULL)",
            "INSERT INTO toys VALUES (20, 10), (21, 12)",
        ]
        try await engine.write(deadline: .now + .seconds(60)) { session throws(StoreError) in
            for sql in statements { _ = try session.execute(Statement(sql: sql, binds: [])) }
            return .commit(())
        }
        let tables = ["parents", "children", "toys"].map { TableName(name: $0) }
        let schema = try await engine.schema(of: tables, deadline: .now + .seconds(60))
        let columns = [Column(name: "id", type: .integer(0...1_000), isNullable: false)]
        return try await engine.read(deadline: .now + .seconds(60)) { [engine] session throws(StoreError) in
            let finder = CascadeFinder(
                schema: schema, kept: KeptColumns(Catalog(resources: [], version: "v"), schema: schema),
                session: session, dialect: engine.dialect)
            guard let key else { return try finder.steps(deleting: [.integer(1)], columns, from: tables[0]) }
            return try finder.steps(updating: [.integer(1)], to: [.integer(Int128(key))], columns, in: tables[0])
        }
    }

    private static func summary(_ steps: [CascadeFinder.Step]) -> [String] {
        steps.map { step in
            let keys = step.cascade.rows.map { $0[0] }.map { value -> String in
                if case .integer(let number) = value { "\(number)" } else { "?" }
            }
            return "\(step.cascade.effect) \(step.cascade.table.name) \(keys.sorted().joined(separator: ","))"
        }
    }

    @Test("A deletion cascades through all tables")
    func deletion() async throws {
        let steps = try await Self.steps("ON DELETE CASCADE")
        #expect(Self.summary(steps) == ["delete children 10,11", "delete toys 20"])
        #expect(steps.allSatisfy { $0.after == nil })
    }

    @Test("A reference that becomes NULL ends the chain, and its row is known after the change")
    func settingNull() async throws {
        let steps = try await Self.steps("ON DELETE SET NULL")
        #expect(Self.summary(steps) == ["setNull children 10,11"])
        #expect(steps[0].after?.allSatisfy { $0[1] == .null } == true)
    }

    @Test("An update of a key changes the references to it, and nothing else")
    func update() async throws {
        let steps = try await Self.steps("ON UPDATE CASCADE", movingTo: 5)
        #expect(Self.summary(steps) == ["update children 10,11"])
        #expect(steps[0].after?.allSatisfy { $0[1] == .integer(5) } == true)
    }

    @Test("A foreign key without an action, and an update that changes nothing, have no cascades")
    func none() async throws {
        #expect(try await Self.steps("").isEmpty)
        #expect(try await Self.steps("ON DELETE CASCADE", movingTo: 5).isEmpty)
        #expect(try await Self.steps("ON UPDATE CASCADE", movingTo: 1).isEmpty)
    }
}
