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

/// One skipped line in the output of a run shows that tests of all engines used SQLite only.
@Suite struct EngineTests {
    @Test("Tests of all engines run on MariaDB too", .tags(.mariadb), .needsMariaDB)
    func mariaDB() {
        #expect(TestEngine.allCases == [.mariadb, .sqlite])
    }
}
