import TestSupport

/// Accounts whose pushes show whether they were applied once: a sum grows with each application, and rows without a
/// natural key are created.
enum Ledger {
    static let accounts = 3

    private static func sql(_ key: String, _ engine: String) -> String {
        """
        CREATE TABLE accounts (id \(key), name VARCHAR(40) NOT NULL, points INT NOT NULL DEFAULT 0,
          street VARCHAR(40) NOT NULL DEFAULT '', town VARCHAR(40) NOT NULL DEFAULT '')\(engine);
        CREATE TABLE bookings (id \(key), account INT NOT NULL, label VARCHAR(40) NOT NULL,
          FOREIGN KEY (account) REFERENCES accounts (id))\(engine);
        INSERT INTO accounts (id, name) VALUES (1, 'one'), (2, 'two'), (3, 'three');
        INSERT INTO bookings (account, label) VALUES (1, 'first');
        """
    }

    static let rules = [
        "accounts.yaml": """
        resource: accounts
        sections:
          account:
            table: accounts
            groups:
              name: name
              points: {column: points, merge: add}
              address: {fields: {street: street, town: town}}
          bookings:
            list: true
            table: bookings
            parent: {account: id}
            groups: {label: label}
        """
    ]

    static func database(_ kind: TestEngine, server: PrivateMariaDB? = nil) async throws -> TestDatabase {
        let database = try await TestDatabase(
            kind, mariadb: sql("INT PRIMARY KEY AUTO_INCREMENT", " ENGINE=InnoDB"),
            sqlite: sql("INTEGER PRIMARY KEY AUTOINCREMENT", ""), server: server)
        try await database.initJournal()
        return database
    }

    /// The records as they are made.
    static var start: [JSON] {
        get throws {
            try zip(1..., ["one", "two", "three"]).map { id, name in
                let account = #"{"name":"\#(name)","points":0,"street":"","town":""}"#
                let bookings = id == 1 ? #"[{"id":1,"label":"first"}]"# : "[]"
                return try JSON(#"{"id":\#(id),"account":\#(account),"bookings":\#(bookings)}"#)
            }
        }
    }

    /// A push that a client sends, once or often.
    struct Push: Sendable {
        let label: String
        let account: Int
        let points: Int

        /// No account has this value as base or edited value, so each application adds.
        private var base: Int { -1_000_000 }

        /// - Parameter isKeyed: with the label as its key.
        func body(isKeyed: Bool = true) -> String {
            let key = isKeyed ? #""key":"\#(label)","# : ""
            let address = #"{"old":{"street":"","town":""},"new":{"street":"\#(label)","town":"\#(label)"}}"#
            let edit =
                #"{"account":{"points":{"old":\#(base),"new":\#(base + points)},"address":\#(address)},"#
                + #""bookings":[{"id":-1,"old":null,"new":{"label":"\#(label)"}}]}"#
            return #"{\#(key)"edits":[{"resource":"accounts","id":\#(account),"changeset":\#(edit)},"#
                + #"{"resource":"accounts","id":-2,"changeset":{"account":{"old":null,"new":{"name":"\#(label)"}}}}]}"#
        }
    }

    /// Counts how often each push was applied, by its label, and sums all points.
    struct Standing: Equatable {
        var bookings: [String: Int]
        var accounts: [String: Int]
        var points: Int

        /// The rows after each of these pushes was applied once.
        init(after pushes: [Push]) {
            bookings = Dictionary(uniqueKeysWithValues: pushes.map { ($0.label, 1) })
            accounts = bookings
            bookings["first"] = 1
            for name in ["one", "two", "three"] { accounts[name] = 1 }
            points = pushes.reduce(0) { $0 + $1.points }
        }

        init(_ database: TestDatabase) async throws {
            bookings = try await Self.counts("SELECT label, COUNT(*) FROM bookings GROUP BY label;", database)
            accounts = try await Self.counts("SELECT name, COUNT(*) FROM accounts GROUP BY name;", database)
            points = Int(try await database.run("SELECT SUM(points) FROM accounts;").dropLast()) ?? 0
        }

        private static func counts(_ sql: String, _ database: TestDatabase) async throws -> [String: Int] {
            let lines = try await database.run(sql).split(separator: "\n").map { $0.split(separator: "\t") }
            return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), Int($0[1]) ?? 0) })
        }
    }

    /// Every row of both tables as SQL prints it.
    static func rows(_ database: TestDatabase) async throws -> [String] {
        let accounts = try await database.run("SELECT 'account', id, name, points, street, town FROM accounts;")
        let bookings = try await database.run("SELECT 'booking', account, id, label FROM bookings;")
        return (accounts + bookings).split(separator: "\n").map(String.init).sorted()
    }

    /// Rows of a follower as SQL prints them.
    static func rows(_ records: StubbornFollower.Records) throws -> [String] {
        var lines: [String] = []
        for text in records.values {
            let record = try JSON(text)
            let id = "\(record["id"]?.int ?? 0)"
            let account = record["account"]
            lines.append(
                [
                    "account", id, account?["name"]?.text ?? "?", "\(account?["points"]?.int ?? -1)",
                    account?["street"]?.text ?? "?", account?["town"]?.text ?? "?",
                ].joined(separator: "\t"))
            for booking in record["bookings"]?.array ?? [] {
                lines.append("booking\t\(id)\t\(booking["id"]?.int ?? 0)\t\(booking["label"]?.text ?? "?")")
            }
        }
        return lines.sorted()
    }

    /// Rows of `JournalReplay` as SQL prints them.
    static func rows(_ replay: JournalReplay) -> [String] {
        var lines: [String] = []
        for (record, sections) in replay.records {
            for row in (sections["account"] ?? [:]).values {
                let fields = ["name", "points", "street", "town"].map { row[$0]?.plain ?? "?" }
                lines.append((["account", record] + fields).joined(separator: "\t"))
            }
            for (item, row) in sections["bookings"] ?? [:] {
                lines.append(["booking", record, item, row["label"]?.plain ?? "?"].joined(separator: "\t"))
            }
        }
        return lines.sorted()
    }
}

extension JSON {
    /// A text without its quotes.
    fileprivate var plain: String { text ?? description }
}
