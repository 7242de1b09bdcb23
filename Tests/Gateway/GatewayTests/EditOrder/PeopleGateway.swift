import TestSupport

/// A gateway for people in areas, with a policy of each kind that can refuse an edit.
enum PeopleGateway {
    private static let sql = """
        CREATE TABLE areas (id INTEGER PRIMARY KEY \(number), name VARCHAR(20) UNIQUE);
        CREATE TABLE people (id INTEGER PRIMARY KEY \(number), email VARCHAR(40) UNIQUE, score INTEGER, area INTEGER,
          code VARCHAR(20) UNIQUE, CONSTRAINT positive CHECK (score > -1000));
        CREATE TABLE notes (id INTEGER PRIMARY KEY, person INTEGER NOT NULL, body VARCHAR(20));
        INSERT INTO areas (id, name) VALUES (102, 'South'), (103, 'North');
        INSERT INTO people (id, email, score, code) VALUES (401, 'ann@x', 10, 'k1'), (402, 'bob@x', 20, 'k2'),
          (403, 'cy@x', 30, 'k3');
        INSERT INTO notes VALUES (1, 401, 'one'), (2, 402, 'two');
        """
    private static let number = "/*numbered*/"

    private static let rules = [
        "areas.yaml": """
        resource: areas
        sections:
          area: {table: areas, client-keys: allow, groups: {name: name}}
        """,
        "people.yaml": """
        resource: people
        sections:
          person:
            table: people
            client-keys: allow
            identity: [email]
            on-missing: restore
            groups:
              email: {column: email, on-conflict: reject}
              score: {column: score, merge: add}
              area: {column: area, references: areas}
              code: code
            checks: [{name: low, sql: score < 100, fields: [score]}]
          notes:
            list: true
            table: notes
            client-keys: allow
            parent: person
            on-missing: restore
            on-delete-conflict: reject
            groups: {body: body}
        """,
    ]

    private static func database(_ kind: TestEngine) async throws -> TestDatabase {
        try await TestDatabase(
            kind, mariadb: sql.replacing(number, with: "AUTO_INCREMENT"), sqlite: sql.replacing(number, with: ""))
    }

    static func push(_ kind: TestEngine, _ bodies: [String]) async throws -> (
        answers: [HTTPClient.Answer], database: TestDatabase
    ) {
        let database = try await database(kind)
        let answers = try await RunningGateway.with(database, rules: rules, journal: .together) {
            gateway async throws in
            try await gateway.client { session in
                var answers: [HTTPClient.Answer] = []
                for body in bodies { answers.append(try await session.post("/v1/push", body)) }
                return answers
            }
        }
        return (answers, database)
    }

    static func outcomes(_ answer: HTTPClient.Answer) throws -> [[String]] {
        try answer.json()["results"]?.array.map { result in
            (result["outcomes"]?.array ?? []).compactMap { $0["outcome"]?.text }
        } ?? []
    }
}
