import Foundation

/// The server programs of MariaDB on this machine, which tests start.
///
/// With `FIELDMERGE_TEST_MARIADB=required`, tests that need a missing server fail instead of being skipped. With
/// `none`, an installed server is not used.
package enum MariaDBServer {
    /// True if tests may start a server.
    ///
    /// Also true if one is required, so that tests report a missing server.
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
