import MergeCore
import RecordStore
import SQLiteStore
import Testing
import TestSupport

/// Unique indexes of SQLite: two rows that one search finds must not count as one row.
@Suite(.timeLimit(.minutes(1))) struct SQLiteUniqueIndexTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let sql: String
        let isKey: Bool
        /// The columns of unique indexes that are no key.
        var others: Set<String> = []

        var testDescription: String { sql }
    }

    @Test(
        "An index is a key only if it has the collations of its columns, or its columns compare exactly",
        arguments: [
            Case(sql: "CREATE TABLE t (name TEXT NOT NULL PRIMARY KEY, v)", isKey: true),
            Case(sql: "CREATE TABLE t (name TEXT NOT NULL COLLATE NOCASE PRIMARY KEY, v)", isKey: true),
            Case(
                sql: "CREATE TABLE t (name TEXT NOT NULL COLLATE NOCASE, v, PRIMARY KEY (name COLLATE BINARY))",
                isKey: false, others: ["name"]),
            Case(
                sql:
                    "CREATE TABLE t (name TEXT NOT NULL COLLATE NOCASE, v, PRIMARY KEY (name COLLATE RTRIM)) WITHOUT ROWID",
                isKey: false, others: ["name"]),
            Case(sql: "CREATE TABLE t (name TEXT NOT NULL, v, PRIMARY KEY (name COLLATE NOCASE))", isKey: true),
            Case(
                sql:
                    "CREATE TABLE t (name TEXT NOT NULL COLLATE NOCASE, v); CREATE UNIQUE INDEX u ON t (name COLLATE BINARY)",
                isKey: false, others: ["name"]),
            Case(
                sql: "CREATE TABLE t (name TEXT NOT NULL COLLATE NOCASE, v); CREATE UNIQUE INDEX u ON t (name)",
                isKey: true),
            Case(
                sql: "CREATE TABLE t (name TEXT NOT NULL, v); CREATE UNIQUE INDEX u ON t (name) WHERE v > 0",
                isKey: false,
                others: ["name", "v"]),
            Case(
                sql: "CREATE TABLE t (name TEXT NOT NULL, v); CREATE UNIQUE INDEX u ON t (lower(name))", isKey: false,
                others: ["name", "v"]),
        ])
    func keys(_ test: Case) async throws {
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: test.sql + ";")
        let engine = try database.engine()
        let name = TableName(name: "t")
        let table = try #require(try await engine.schema(of: [name], deadline: .distant).tables[name])
        #expect(table.isKey(["name"]) == test.isKey)
        #expect(table.constraints.otherUniqueColumns == test.others)
        await engine.close()
        withExtendedLifetime(database) {}
    }
}
