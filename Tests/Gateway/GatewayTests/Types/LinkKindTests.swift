import Testing
import TestSupport

/// Columns that tie rows to each other contain values of one kind, in a database without types for dates too.
@Suite struct LinkKindTests {
    private static func check(_ own: String, _ target: String) async throws -> (status: Int32, output: String) {
        let sql = """
            CREATE TABLE days (day \(target) NOT NULL PRIMARY KEY, name VARCHAR(20));
            CREATE TABLE notes (id INTEGER PRIMARY KEY, day \(own), title VARCHAR(20));
            """
        let rules = [
            "days.yaml": """
            resource: days
            sections:
              day: {table: days, groups: {name: name}}
              notes: {table: notes, list: true, parent: {day: day}, groups: {title: title}}
            """
        ]
        let database = try await TestDatabase(.sqlite, mariadb: "", sqlite: sql)
        let folder = try TemporaryFolder(files: rules)
        let said = try await Shell.capture([
            CommandLineTests.program, "check", "--rules", folder.path, "--database", database.url, "--journal", "off",
        ])
        return (said.status, said.output + said.errors)
    }

    @Test(
        "A pair of columns of different kinds is refused",
        arguments: [
            ("DATE", "TEXT"), ("TEXT", "DATE"), ("DATETIME", "DATE"), ("TIMESTAMP", "DATETIME"), ("TIME", "DATE"),
        ])
    func refused(_ own: String, _ target: String) async throws {
        let said = try await Self.check(own, target)
        #expect(said.status != 0 && said.output.contains("contain values of different kinds"), "\(said)")
    }

    @Test("A pair of one kind is accepted", arguments: ["DATE", "DATETIME", "TIMESTAMP", "TIME", "TEXT"])
    func accepted(_ type: String) async throws {
        let said = try await Self.check(type, type)
        #expect(said.status == 0, "\(said)")
    }
}
