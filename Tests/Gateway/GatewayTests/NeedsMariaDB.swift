import Testing
import TestSupport

extension Tag {
    /// Tests that need a MariaDB server.
    @Tag static var mariadb: Self
}

extension Trait where Self == ConditionTrait {
    /// Skips the test if there is no MariaDB server and none is required.
    static var needsMariaDB: Self { .enabled(if: MariaDBServer.isExpected, Comment(rawValue: MariaDBServer.reason)) }
}
