import TestSupport
import Testing

/// `check` has the database prepare each kind of write that the rules allow.
@Suite(.timeLimit(.minutes(2))) struct VerbProbeTests {
    static let joined = """
        CREATE TABLE a (id INT PRIMARY KEY, n VARCHAR(20)); CREATE TABLE b (id INT PRIMARY KEY, m VARCHAR(20));
        INSERT INTO a VALUES (1, 'a'), (2, 'b'); INSERT INTO b VALUES (1, 'x'), (2, 'y');
        CREATE VIEW things AS SELECT a.id, a.n, b.m FROM a JOIN b ON a.id = b.id;

        """
    static let joinRules = [
        "things.yaml": """
        resource: things
        sections:
          thing: {table: things, key: id, groups: {n: n}, read-only: {m: m}}
        """
    ]

    private static func check(
        _ database: TestDatabase, _ rules: [String: String]
    ) async throws -> (status: Int32, output: String, errors: String) {
        let folder = try TemporaryFolder(files: rules)
        return try await Shell.capture([
            CommandLineTests.program, "check", "--rules", folder.path, "--database", database.url, "--journal", "off",
        ])
    }

    @Test("A view whose rows cannot be deleted is a finding at the table's name", .tags(.mariadb), .needsMariaDB)
    func joinView() async throws {
        let database = try await TestDatabase(.mariadb, mariadb: Self.joined, sqlite: "")
        let said = try await Self.check(database, Self.joinRules)
        #expect(said.status == 0, "\(said)")
        #expect(
            said.output.contains("things.yaml:3:18: warning: rows of table “things” cannot be deleted")
                && said.output.contains("Can not delete from join view"), "\(said)")
        #expect(!said.output.contains("cannot be updated") && !said.output.contains("cannot be read"), "\(said)")
    }

    private static let members = """
        CREATE TABLE members (id INT PRIMARY KEY, name VARCHAR(20), pin VARCHAR(20));
        CREATE TABLE fired (n INT) ENGINE=MyISAM; INSERT INTO fired VALUES (0);
        CREATE TRIGGER t BEFORE INSERT ON members FOR EACH ROW UPDATE fired SET n = n + 1;
        CREATE TRIGGER u BEFORE UPDATE ON members FOR EACH ROW UPDATE fired SET n = n + 1;
        CREATE TRIGGER v BEFORE DELETE ON members FOR EACH ROW UPDATE fired SET n = n + 1;

        """

    private static func rules(_ access: String = "") -> [String: String] {
        [
            "members.yaml": """
            resource: members
            sections:
              member: {table: members, groups: {name: name, pin: pin}}
            \(access)
            """
        ]
    }

    private struct Case: Sendable, CustomTestStringConvertible {
        let grant: String
        var access = ""
        let missing: Set<String>
        var testDescription: String { grant + access }
    }

    private static let cases = [
        Case(grant: "SELECT, INSERT, UPDATE, DELETE", missing: []),
        Case(grant: "SELECT, UPDATE", missing: ["inserted", "deleted"]),
        Case(grant: "SELECT, UPDATE (name), INSERT, DELETE", missing: ["updated"]),
        Case(grant: "SELECT (id, name), INSERT, UPDATE, DELETE", missing: ["read"]),
        Case(grant: "SELECT", access: "access: {all: {read: all}}", missing: []),
        Case(
            grant: "SELECT, UPDATE (name)",
            access: "access: {all: {read: all, write: [member.name], create: false, delete: false}}", missing: []),
        Case(
            grant: "SELECT, UPDATE",
            access: "access: {a: {read: all, write: all, create: true, delete: false}, b: {read: all}}",
            missing: ["inserted"]),
    ]

    @Test(
        "Each right that the rules need and the user lacks is a finding", .tags(.mariadb), .needsMariaDB,
        arguments: cases)
    private func missingRights(_ tried: Case) async throws {
        let database = try await TestDatabase(.mariadb, mariadb: Self.members, sqlite: "")
        let user = "few_" + database.name
        try await database.runAsOperator(
            "CREATE USER \(user)@localhost; GRANT \(tried.grant) ON \(database.name).members TO \(user)@localhost")
        let said = try await Self.check(database.asUser(user), Self.rules(tried.access))
        #expect(said.status == 0, "\(said)")
        for word in ["read", "inserted", "updated", "deleted"] {
            let isFound = said.output.contains("members.yaml:3:19: warning: rows of table “members” cannot be \(word)")
            #expect(isFound == tried.missing.contains(word), "\(word): \(said.output)")
        }
        #expect(tried.missing.isEmpty || said.output.contains("check --grants"), "\(said)")
        // A trigger that writes a table without transactions would leave a trace.
        #expect(try await database.run("SELECT n FROM fired;") == "0\n")
    }
}
