import TestSupport

/// The rights of a database user.
///
/// With the right to see triggers, the gateway can exclude that a write changes other rows.
enum MariaDBRights: String, CaseIterable, Sendable {
    case few = "SELECT, INSERT, UPDATE, DELETE"
    case withTriggers = "SELECT, INSERT, UPDATE, DELETE, TRIGGER"

    private var name: String { self == .few ? "values_few" : "values_triggers" }

    /// The database through an account with exactly these rights.
    func user(of database: TestDatabase) async throws -> TestDatabase {
        let account = "'\(name)'@'localhost'"
        try await database.run(
            "CREATE USER IF NOT EXISTS \(account); GRANT \(rawValue) ON \(database.name).* TO \(account);")
        return database.asUser(name)
    }
}
