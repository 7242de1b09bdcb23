import Foundation

/// The server programs of MariaDB on this machine, which tests start for themselves.
///
/// `FIELDMERGE_TEST_MARIADB=required` has tests that need a server fail where it is missing, instead of being skipped;
/// `none` does without one that is there.
package enum MariaDBServer {
    /// True where tests may start a server; also where one is required, so that a missing one is told by them.
    package static let isExpected: Bool = {
        switch ProcessInfo.processInfo.environment["FIELDMERGE_TEST_MARIADB"] {
        case "required": true
        case "none": false
        default: programs.allSatisfy(isInstalled)
        }
    }()

    /// The reason with which tests are skipped.
    package static let reason = "no MariaDB server on this machine; ./Tests/run installs one"

    private static let programs = ["mariadbd", "mariadb-install-db", "mariadb", "mariadb-admin"]

    private static func isInstalled(_ program: String) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }
}
