import Testing
import TestSupport

/// One role has to allow a write, on the row before and after it.
///
/// Values that no role of a client reads change no answer.
@Suite(.timeLimit(.minutes(5))) struct SameRoleTests {
    private static let sql = """
        CREATE TABLE boxes (id INT PRIMARY KEY, place INT, title VARCHAR(20), secret VARCHAR(20));
        CREATE TABLE labels (id INT PRIMARY KEY, box INT NOT NULL, text VARCHAR(20),
          FOREIGN KEY (box) REFERENCES boxes (id));
        CREATE TABLE seals (box INT PRIMARY KEY, colour VARCHAR(20), FOREIGN KEY (box) REFERENCES boxes (id));
        """
    private static let rows = """
        INSERT INTO boxes VALUES (1, 1, 'one', 'S1'), (2, 2, 'two', 'S2'), (3, 1, 'three', 'S3');
        INSERT INTO labels VALUES (1, 1, 'a'), (2, 2, 'b');
        INSERT INTO seals VALUES (1, 'red'), (2, 'blue');
        """
    private static let rules = [
        "boxes.yaml": """
        resource: boxes
        sections:
          box:
            table: boxes
            client-keys: allow
            groups: {place: place, title: title, secret: secret}
          labels:
            list: true
            table: labels
            client-keys: allow
            parent: {box: id}
            groups: {text: text}
          seal:
            table: seals
            parent: {box: id}
            groups: {colour: colour}
        access:
          mover:
            read: [box.place, box.title, labels, seal]
            write: [box.place, box.title]
            rows: {place: {any: [{value: 1}, {value: 2}]}}
          packer:
            read: all
            write: all
            create: true
            delete: true
            rows: {place: {value: 2}}
        """,
        "crates.yaml": """
        resource: crates
        sections:
          crate:
            table: boxes
            client-keys: allow
            groups: {place: place}
        access:
          mover: {read: all, write: all}
        """,
    ]
    private static let pat = Rounds.Client("pat", ["mover", "packer"])

    private static func with(
        _ kind: TestEngine, _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: sql, sqlite: sql)
        try await database.run(rows)
        try await RunningGateway.with(database, rules: rules, tokens: pat.line, journal: .together, body)
    }

    private static func edit(_ changeset: String, id: Int = 1, resource: String = "boxes") -> String {
        #"{"resource": "\#(resource)", "id": \#(id), "changeset": \#(changeset)}"#
    }

    private static let move = #""box": {"place": {"old": 1, "new": 2}}"#

    @Test(
        "An edit that moves a record into the rows of another role writes no item and no section of it",
        arguments: TestEngine.allCases,
        [
            (#""labels": [{"id": 1, "text": {"old": "a", "new": "x"}}]"#, "changeset.labels[0].text"),
            (#""labels": [{"id": 9, "old": null, "new": {"text": "x"}}]"#, "changeset.labels[0]"),
            (#""labels": [{"id": 1, "old": {"text": "a"}, "new": null}]"#, "changeset.labels[0]"),
            (#""seal": {"colour": {"old": "red", "new": "x"}}"#, "changeset.seal.colour"),
            (#""seal": {"old": {"colour": "red"}, "new": null}"#, "changeset.seal"),
        ])
    func partsOfAMovedRecord(_ kind: TestEngine, _ part: (sent: String, path: String)) async throws {
        try await Self.with(kind) { gateway async throws in
            let answer = try await gateway.post(
                "/v1/merge/boxes", #"{"id": 1, "changeset": {\#(Self.move), \#(part.sent)}}"#, as: Self.pat)
            let problem = try answer.json()["problem"]
            #expect(answer.status == 403 && problem?["code"]?.text == "no-right", "\(answer.text)")
            #expect(problem?["path"]?.text == part.path, "\(answer.text)")
            let left = try await gateway.database.run("SELECT COUNT(*) FROM boxes WHERE place = 1")
            #expect(left.contains("2"))
            // Under one role that permits the record before and after, an equal edit is merged.
            let moved = part.sent.replacing(#""id": 1"#, with: #""id": 2"#).replacing(#""a""#, with: #""b""#)
                .replacing("red", with: "blue")
            let merged = try await gateway.post(
                "/v1/merge/boxes", #"{"id": 2, "changeset": {\#(moved)}}"#, as: Self.pat)
            #expect(merged.status == 200, "\(merged.text)")
        }
    }

    @Test(
        "A later edit of a push uses no role that did not apply before the push",
        arguments: TestEngine.allCases, ["push", "edit"])
    func laterEdits(_ kind: TestEngine, _ atomic: String) async throws {
        for (resource, section) in [("boxes", "box"), ("crates", "crate")] {
            for sent in [
                #"{"box": {"secret": {"old": "S1", "new": "x"}}}"#,
                #"{"labels": [{"id": 1, "text": {"old": "a", "new": "x"}}]}"#,
                #"{"box": {"old": {"secret": "S1"}, "new": null}}"#,
            ] {
                try await Self.with(kind) { gateway async throws in
                    let move = Self.edit(
                        #"{"\#(section)": {"place": {"old": 1, "new": 2}}}"#, resource: resource)
                    let answer = try await gateway.post(
                        "/v1/push", #"{"atomic": "\#(atomic)", "edits": [\#(move), \#(Self.edit(sent))]}"#, as: Self.pat
                    )
                    #expect(answer.status == (atomic == "push" ? 403 : 207), "\(sent): \(answer.text)")
                    #expect(
                        try answer.json()["results"]?[1]?["problem"]?["code"]?.text == "no-right",
                        "\(sent): \(answer.text)")
                    #expect(!answer.text.contains("S1") || atomic == "edit", "\(answer.text)")
                    let kept = try await gateway.database.run("SELECT COUNT(*) FROM boxes WHERE secret = 'S1'")
                    #expect(kept.contains("1"))
                }
            }
        }
    }

    @Test(
        "A refused push and a preview do not show whether a guessed value of a hidden group is right",
        arguments: TestEngine.allCases)
    func guesses(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway async throws in
            for path in ["/v1/push", "/v1/push?preview=true"] {
                for last in [Self.edit(#"{"box": {"place": {"old": 1, "new": 9}}}"#, id: 3), nil] {
                    // Without a refusal, a push that is no preview moves the record.
                    if last == nil, path == "/v1/push" { continue }
                    func answer(_ later: String) async throws -> JSON {
                        let edits = [Self.edit("{\(Self.move)}"), Self.edit(later), last].compactMap(\.self)
                        return try await gateway.post(
                            path, #"{"atomic": "push", "edits": [\#(edits.joined(separator: ", "))]}"#, as: Self.pat
                        ).json()
                    }
                    for form in [
                        #"{"box": {"secret": {"old": "GUESS", "new": "x"}}}"#,
                        #"{"box": {"old": {"secret": "GUESS"}, "new": null}}"#,
                        #"{"box": {"old": null, "new": {"secret": "GUESS"}}}"#,
                    ] {
                        let right = try await answer(form.replacing("GUESS", with: "S1"))
                        let wrong = try await answer(form.replacing("GUESS", with: "S7"))
                        #expect(right == wrong, "\(path) \(form): \(right) \(wrong)")
                    }
                }
            }
        }
    }

    @Test(
        "A preview of a move contains only values that the client could read before the move",
        arguments: TestEngine.allCases)
    func previews(_ kind: TestEngine) async throws {
        try await Self.with(kind) { gateway async throws in
            let body = #"{"id": 1, "changeset": {\#(Self.move)}}"#
            let preview = try await gateway.post("/v1/merge/boxes?preview=true", body, as: Self.pat)
            #expect(preview.status == 200 && !preview.text.contains("S1"), "\(preview.text)")
            #expect(try preview.json()["record"]?["box"]?["place"]?.int == 2, "\(preview.text)")
            // After the move, the client reads the group.
            let moved = try await gateway.post("/v1/merge/boxes", body, as: Self.pat)
            #expect(moved.status == 200 && moved.text.contains("S1"), "\(moved.text)")
        }
    }

    @Test(
        "A push that moves a record into a client's rows and out again does not name it to that client",
        arguments: TestEngine.allCases, ["push", "edit"])
    func passingThrough(_ kind: TestEngine, _ atomic: String) async throws {
        try await Rounds.with(kind) { gateway async throws in
            func push(_ edits: String...) async throws {
                let answer = try await gateway.post(
                    "/v1/push",
                    #"{"atomic": "\#(atomic)", "edits": [\#(edits.joined(separator: ", "))]}"#, as: Rounds.boss)
                #expect(answer.status == 200, "\(answer.text)")
                try await AccessFeedTests.settle(gateway)
            }
            func move(_ id: Int, _ from: Int, _ to: Int) -> String {
                Self.edit(#"{"stop": {"area": {"old": \#(from), "new": \#(to)}}}"#, id: id, resource: "stops")
            }
            func create(_ id: Int, _ area: Int) -> String {
                Self.edit(#"{"stop": {"old": null, "new": {"area": \#(area)}}}"#, id: id, resource: "stops")
            }
            func delete(_ id: Int) -> String {
                Self.edit(#"{"stop": {"old": {}, "new": null}}"#, id: id, resource: "stops")
            }
            let ann = try await AccessFeedTests.Follower(Rounds.ann, gateway)
            let bob = try await AccessFeedTests.Follower(Rounds.bob, gateway)
            try await push(move(1, 1, 3), move(1, 3, 9))
            #expect(try await bob.poll() == [])
            #expect(try await ann.poll() == [-1])
            try await push(create(20, 3), move(20, 3, 9))
            #expect(try await bob.poll() == [])
            try await push(move(2, 2, 3), delete(2))
            #expect(try await bob.poll() == [])
            #expect(try await ann.poll() == [-2])
            try await push(create(21, 3), delete(21), create(21, 1))
            #expect(try await bob.poll() == [])
            #expect(try await ann.poll() == [21])
            // A record that ends in its old area is reported to its client.
            try await push(move(3, 3, 9), move(3, 9, 3))
            #expect(try await bob.poll() == [3])
        }
    }
}
