import TestSupport

/// A program that writes to the tables of `FeedFixture` without the gateway.
///
/// There are few values and keys, so values are restored, rows move and keys are used again. Some transactions are
/// rolled back or remain open for a while.
struct ForeignWriter {
    private let database: TestDatabase
    private var random: SeededRandom
    /// The forms in which the server logs a transaction.
    private let forms: [String]

    init(_ database: TestDatabase, seed: Int, forms: [String] = []) {
        self.database = database
        self.forms = forms
        random = SeededRandom(seed: seed)
    }

    /// A trigger also writes a table that no request names.
    static func sql(_ kind: TestEngine) -> String {
        FeedFixture.sql(kind)
            + (kind == .mariadb
                ? "CREATE TRIGGER hand AFTER UPDATE ON things FOR EACH ROW UPDATE doors SET name = NEW.name WHERE id = OLD.id;"
                : """
                CREATE TRIGGER hand AFTER UPDATE ON things BEGIN UPDATE doors SET name = NEW.name WHERE id = OLD.id; END;
                """)
    }

    /// Writes in so many transactions.
    ///
    /// A refused one leaves no change.
    mutating func write(_ count: Int) async throws {
        let isFile = database.kind == .sqlite
        for _ in 0..<count {
            var sql =
                isFile
                ? "PRAGMA foreign_keys = ON; BEGIN IMMEDIATE;"
                : "SET SESSION innodb_lock_wait_timeout = 1; SET TRANSACTION ISOLATION LEVEL READ COMMITTED; BEGIN;"
            if let form = forms.randomElement(using: &random) { sql = form + sql }
            for _ in 0..<Int.random(in: 1...3, using: &random) { sql += statement() }
            if !isFile, Int.random(in: 0..<6, using: &random) == 0 { sql += "DO SLEEP(0.05);" }
            sql += Int.random(in: 0..<8, using: &random) == 0 ? "ROLLBACK;" : "COMMIT;"
            _ = try? await database.run(sql)
            try Task.checkCancellation()
        }
    }

    private mutating func statement() -> String {
        let id = Int.random(in: 1...6, using: &random)
        let other = Int.random(in: 1...6, using: &random)
        let home = ["1", "2", "3", "NULL"].randomElement(using: &random) ?? "NULL"
        let name = ["'x'", "'y'", "NULL"].randomElement(using: &random) ?? "NULL"
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: return "UPDATE things SET home = \(home) WHERE id = \(id);"
        case 2, 3: return "UPDATE things SET name = \(name) WHERE id = \(id);"
        case 4: return "UPDATE homes SET hidden = 1 - hidden WHERE id = \(id);"
        case 5: return "UPDATE homes SET name = \(name) WHERE id = \(id);"
        case 6: return "DELETE FROM things WHERE id = \(id);"
        case 7: return "INSERT INTO things (id, home, name) VALUES (\(id), \(home), \(name));"
        case 8: return "UPDATE things SET id = \(other) WHERE id = \(id);"
        default:
            // Gone with all that hangs on it, and back again.
            return "DELETE FROM rooms WHERE id = \(id % 3 + 1); "
                + "INSERT INTO rooms (id, home, name) VALUES (\(id % 3 + 1), \(home), \(name));"
        }
    }
}

/// A client that keeps all records, and follows the feed while gateways are killed.
struct ForeignFollower {
    private var feed = ""
    private var revision = 0
    private(set) var records: [String: String] = [:]
    private var random: SeededRandom
    private var takesSnapshots = true

    init(seed: Int) { random = SeededRandom(seed: seed) }

    /// Reads a snapshot, or the next page of changes.
    ///
    /// Returns true if there are no more changes at the moment.
    mutating func step(_ client: HTTPClient.Session) async throws -> Bool {
        // Now and then it has lost everything.
        if feed.isEmpty || (takesSnapshots && Int.random(in: 0..<40, using: &random) == 0) {
            let answer = try await client.get("/v1/snapshot")
            let lines = try answer.text.split(separator: "\n").map { try JSON(String($0)) }
            guard answer.status == 200, let head = lines.first?["snapshot"], lines.last?["end"] != nil else {
                return false
            }
            feed = head["feed"]?.text ?? ""
            revision = head["revision"]?.int ?? 0
            records = [:]
            for line in lines where line["record"] != nil { records[line.name] = line["record"]?.description }
            return false
        }
        let limit = Int.random(in: 1...20, using: &random)
        let answer = try await client.get("/v1/changes?since=\(revision)&feed=\(feed)&limit=\(limit)")
        guard answer.status == 200 else { throw Shell.Failure(description: answer.text) }
        let page = try answer.json()
        for change in page["changes"]?.array ?? [] {
            let record = change["record"]
            records[change.name] = record?.isNull == false ? record?.description : nil
        }
        revision = page["revision"]?.int ?? revision
        return page["more"]?.bool == false
    }

    /// Follows the feed until the copy equals the database, to which no program writes any more.
    mutating func catchUp(_ client: HTTPClient.Session, with truth: [String: String]) async throws {
        let end = ContinuousClock.now + .seconds(60)
        // A snapshot would hide an unreported change.
        takesSnapshots = false
        while ContinuousClock.now < end {
            if try await step(client), records == truth { return }
            _ = try await client.get("/v1/changes?since=\(revision)&feed=\(feed)&limit=1&wait=1")
        }
    }
}

extension HTTPClient.Session {
    /// The records of the database by name.
    func held(_ names: [String] = ["doors", "homes", "rooms", "things"]) async throws -> [String: String] {
        var records: [String: String] = [:]
        for name in names {
            for record in try await get("/v1/records/\(name)?limit=500").json()["records"]?.array ?? [] {
                records["\(name)/\(record["id"].map(\.description) ?? "")"] = record.description
            }
        }
        return records
    }
}
