import Testing
import TestSupport

extension Tag {
    /// Marks what runs on a MariaDB server alone.
    @Tag static var mariadb: Self
}

extension Trait where Self == ConditionTrait {
    /// Skips a test that has no other engine to run on, where there is no server and none is required.
    static var needsMariaDB: Self { .enabled(if: MariaDBServer.isExpected, Comment(rawValue: MariaDBServer.reason)) }
}

/// Tells in one line of a run that tests over all engines ran on SQLite alone.
@Suite struct EngineTests {
    @Test(.tags(.mariadb), .needsMariaDB) func testsOverAllEnginesRunOnMariaDBToo() {
        #expect(TestEngine.allCases == [.mariadb, .sqlite])
    }
}
