import Testing
import TestSupport

/// A column of texts that the rules call JSON.
@Suite(.timeLimit(.minutes(3))) struct JSONTextTests {
    private static let documents = """
        CREATE TABLE documents (id INTEGER PRIMARY KEY, body TEXT, name VARCHAR(20));
        INSERT INTO documents VALUES (1, 'no json', 'a'), (2, '', 'a'), (3, ' {"a": 1}', 'a');
        """
    private static let documentRules = [
        "documents.yaml": """
        resource: documents
        sections:
          document: {table: documents, groups: {all: {fields: {body: {column: body, type: json}, name: name}}}}
        """
    ]

    @Test(
        "A text that is no JSON is a JSON string, and no echo changes it", arguments: TestEngine.allCases,
        ["a", "stale"])
    func noJSON(_ kind: TestEngine, name: String) async throws {
        let database = try await TestDatabase(kind, mariadb: Self.documents, sqlite: Self.documents)
        try await RunningGateway.with(database, rules: Self.documentRules, journal: .together) { gateway async throws in
            try await gateway.client { client async throws in
                for (id, body) in [(1, #""no json""#), (2, #""""#), (3, #"{"a":1}"#)] {
                    let read = try await client.get("/v1/records/documents/\(id)")
                    #expect(try read.json()["document"]?["body"]?.description == body, "\(read.text)")
                    let edit =
                        #"{"id":\#(id),"changeset":{"document":{"all":{"old":{"body":\#(body),"name":"\#(name)"},"new":{"body":\#(body),"name":"b"}}}}}"#
                    let answer = try await client.post("/v1/merge/documents", edit)
                    let outcome = try answer.json()["outcomes"]?[0]?["outcome"]?.text
                    #expect(outcome == (name == "a" ? "applied" : "client-won"), "\(id): \(answer.text)")
                }
                let stored = try await database.run("SELECT body, name FROM documents ORDER BY id;")
                #expect(stored.replacing("\t", with: "|") == "no json|b\n|b\n {\"a\": 1}|b\n")
            }
        }
    }
}
