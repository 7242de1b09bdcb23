import MergeCore
import RecordStore
import Testing
import TestSupport

/// A converted value equals the database's value for the column under the other type.
@Suite struct ColumnConversionTests {
    private static let mariadb = """
        CREATE TABLE mixed (id INT PRIMARY KEY, a TINYINT, b BIT(1), c DECIMAL(10,0), d VARCHAR(40), e CHAR(9), f LONGTEXT);
        INSERT INTO mixed VALUES (1, 0, 0, 0, '', '', 'null'), (2, 1, 1, 1, 'x,y', 'a', '{"a": 1}'),
          (3, 7, NULL, 1234567890, '["x"]', '0', 'no JSON'), (4, NULL, NULL, NULL, NULL, NULL, NULL), (5, -1, 1, -5, '1', '1', '1');
        """
    private static let sqlite = """
        CREATE TABLE mixed (id INTEGER PRIMARY KEY, a INTEGER, b BOOLEAN, c NUMERIC, d VARCHAR(40), e TEXT, f DECIMAL(10,2));
        INSERT INTO mixed VALUES (1, 0, 0, 0, '', '2026-11-20', 0), (2, 1, 1, 1, 'x,y', '2026-11-20T10:00:00Z', 1),
          (3, 7, 2, 1.5, '["x"]', '10:00:00', 2.25), (4, NULL, NULL, NULL, NULL, NULL, NULL),
          (5, 'text', x'00', 'text', '2026-11-20 10:00:00.25', '25', 9007199254740993), (6, 1.5, 1.5, 1e300, '1', 'a,,b', -1);
        """

    @Test("The value in the schema's type converts exactly to every other type", arguments: TestEngine.allCases)
    func exact(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.mariadb, sqlite: Self.sqlite)
        let engine = try database.engine()
        let name = TableName(name: "mixed")
        let table = try #require(try await engine.schema(of: [name], deadline: .distant).tables[name])
        for column in table.columns.dropFirst() {
            let first = try #require(column.types.first)
            for type in column.types + column.explicitTypes {
                let (own, other) = (column.column(as: first), column.column(as: type))
                let rows = try await engine.read(deadline: .distant) { session throws(StoreError) in
                    let quoted = engine.dialect.quoted(column.name)
                    return try session.query(
                        Statement(sql: "SELECT \(quoted), \(quoted) FROM mixed", binds: [], columns: [own, other]))
                }
                #expect(rows.count >= 5)
                for row in rows {
                    #expect(other.converted(row[0], from: own) == row[1], "\(column.name): \(row[0]) as \(type.name)")
                    #expect(RawValue(column: own, value: row[0]).isSame(as: row[1], in: other))
                }
            }
        }
        await engine.close()
        withExtendedLifetime(database) {}
    }
}
