import TestSupport

/// Homes with things and rooms.
///
/// Things are also a resource. Rooms are deleted with their home.
enum FeedFixture {
    static func sql(_ kind: TestEngine) -> String {
        let number = kind == .mariadb ? "AUTO_INCREMENT" : ""
        return """
            CREATE TABLE homes (id INTEGER PRIMARY KEY \(number), name VARCHAR(20), hidden INTEGER NOT NULL DEFAULT 0);
            CREATE TABLE things (id INTEGER PRIMARY KEY \(number), home INTEGER, name VARCHAR(20),
              FOREIGN KEY (home) REFERENCES homes (id));
            CREATE TABLE rooms (id INTEGER PRIMARY KEY \(number), home INTEGER, name VARCHAR(20),
              FOREIGN KEY (home) REFERENCES homes (id) ON DELETE CASCADE);
            CREATE TABLE doors (id INTEGER PRIMARY KEY \(number), room INTEGER, name VARCHAR(20),
              FOREIGN KEY (room) REFERENCES rooms (id) ON DELETE SET NULL);
            INSERT INTO homes (id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c');
            INSERT INTO things VALUES (1, 1, 'one'), (2, 1, 'two'), (3, 2, 'three'), (4, NULL, 'four');
            INSERT INTO rooms VALUES (1, 3, 'hall'), (2, 3, 'attic'), (3, 2, 'cellar');
            INSERT INTO doors VALUES (1, 1, 'front'), (2, 3, 'back');
            """
    }

    static let rules = [
        "homes.yaml": """
        resource: homes
        sections:
          home: {table: homes, groups: {name: name}, where: hidden = 0}
          things: {list: true, table: things, parent: home, groups: {name: name}}
        """,
        "things.yaml": "resource: things\nsections:\n  thing: {table: things, groups: {name: name, home: home}}\n",
        "rooms.yaml": "resource: rooms\nsections:\n  room: {table: rooms, groups: {name: name, home: home}}\n",
        "doors.yaml": "resource: doors\nsections:\n  door: {table: doors, groups: {name: name}}\n",
    ]

    static func with(
        _ kind: TestEngine, _ place: JournalPlace? = .together,
        _ body: @escaping @Sendable (RunningGateway) async throws -> Void
    ) async throws {
        let database = try await TestDatabase(kind, mariadb: sql(.mariadb), sqlite: sql(.sqlite))
        if kind == .sqlite, place == .ahead { try await database.run("PRAGMA journal_mode = WAL;") }
        try await RunningGateway.with(database, rules: rules, journal: place, body)
    }

    /// An edit of one field of a root row.
    static func edit(_ resource: String, _ id: Int, _ field: String, _ old: String, _ new: String) -> String {
        let section = String(resource.dropLast())
        return
            #"{"resource":"\#(resource)","id":\#(id),"changeset":{"\#(section)":{"\#(field)":{"old":\#(old),"new":\#(new)}}}}"#
    }
}

extension HTTPClient.Session {
    /// The feed and its latest revision.
    func position() async throws -> (feed: String, revision: Int) {
        let answer = try await get("/v1/changes").json()
        return (answer["feed"]?.text ?? "", answer["revision"]?.int ?? -1)
    }

    /// Pushes edits, which have to be merged.
    func push(_ edits: String..., atomic: String = "push") async throws -> JSON {
        let answer = try await post("/v1/push", #"{"atomic":"\#(atomic)","edits":[\#(edits.joined(separator: ","))]}"#)
        guard answer.status == 200 || answer.status == 207 else { throw Shell.Failure(description: answer.text) }
        return try answer.json()
    }

    /// Returns the changes after a position, having waited for everything that was pushed to this gateway.
    func changes(after position: (feed: String, revision: Int), _ more: String = "") async throws -> JSON {
        // A sync waits for all earlier commits.
        let sync = try await post("/v1/sync", "{}")
        guard sync.status == 200 else { throw Shell.Failure(description: sync.text) }
        let answer = try await get("/v1/changes?since=\(position.revision)&feed=\(position.feed)\(more)")
        guard answer.status == 200 else { throw Shell.Failure(description: answer.text) }
        return try answer.json()
    }
}

extension JSON {
    /// The records that a page of changes names, in its order.
    var names: [String] {
        (self["changes"]?.array ?? []).map { "\($0["resource"]?.text ?? "")/\($0["id"].map(\.description) ?? "")" }
    }
}
