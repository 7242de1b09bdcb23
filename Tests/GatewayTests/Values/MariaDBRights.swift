import TestSupport

/// The rights of a database user: with the one to see triggers, what was written is compared with what is read again.
enum MariaDBRights: String, CaseIterable, Sendable {
    case few = "SELECT, INSERT, UPDATE, DELETE"
    case withTriggers = "SELECT, INSERT, UPDATE, DELETE, TRIGGER"

    private var name: String { self == .few ? "values_few" : "values_triggers" }

    /// The database as an account with exactly these rights on it sees it.
    func user(of database: TestDatabase) async throws -> TestDatabase {
        let account = "'\(name)'@'localhost'"
        try await database.run(
            "CREATE USER IF NOT EXISTS \(account); GRANT \(rawValue) ON \(database.name).* TO \(account);")
        return database.asUser(name)
    }
}

extension TestDatabase {
    /// The same database as an account sees it that has rights, the one to see triggers among them, on some tables only.
    func seeing(_ tables: [String]) async throws -> TestDatabase {
        let account = "some_" + name
        let grants = tables.map {
            "GRANT \(MariaDBRights.withTriggers.rawValue) ON \(name).\($0) TO \(account)@localhost;"
        }
        try await runAsOperator("CREATE USER \(account)@localhost; " + grants.joined(separator: " "))
        return asUser(account)
    }
}
