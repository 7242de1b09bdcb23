import Testing
import TestSupport

/// Two edits of one push that turn out to be of one record.
@Suite struct SameRecordTests {
    private static let table =
        "CREATE TABLE labels (id INT PRIMARY KEY, name VARCHAR(20) NOT NULL UNIQUE, ink VARCHAR(20))"
    private static let rows = "INSERT INTO labels VALUES (1, 'pen', 'l'), (2, 'cup', 'm');"
    private static let rules = [
        "labels.yaml": """
        resource: labels
        sections:
          label: {table: labels, identity: [name], groups: {name: name, ink: ink}}
        """
    ]
    private static let created =
        #"{"resource":"labels","id":9,"changeset":{"label":{"old":null,"new":{"name":"pen","ink":"x"}}}}"#
    private static let edited = #"{"resource":"labels","id":1,"changeset":{"label":{"ink":{"old":"l","new":"y"}}}}"#
    private static let other = #"{"resource":"labels","id":2,"changeset":{"label":{"ink":{"old":"m","new":"z"}}}}"#

    /// One edit creates the record under its id and finds it by identity.
    ///
    /// The other edit names it.
    @Test("The later of two edits of one record is applied last", arguments: TestEngine.allCases)
    func laterEdit(_ kind: TestEngine) async throws {
        let database = try await TestDatabase(
            kind, mariadb: Self.table + " ENGINE=InnoDB;" + Self.rows, sqlite: Self.table + ";" + Self.rows)
        try await RunningGateway.with(database, rules: Self.rules) { gateway async throws in
            try await gateway.client { client in
                let answer = try await client.post(
                    "/v1/push", #"{"edits":[\#(Self.created),\#(Self.edited),\#(Self.other)]}"#)
                #expect(answer.status == 200, "\(answer.text)")
            }
        }
        #expect(
            try await database.run("SELECT id, ink FROM labels ORDER BY id;").split(whereSeparator: \.isNewline).map {
                $0.replacing("|", with: "\t")
            } == ["1\ty", "2\tz"])
    }
}
