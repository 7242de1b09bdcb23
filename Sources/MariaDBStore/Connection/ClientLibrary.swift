internal import CMariaDB
import RecordStore

/// The C client library: the one that the program runs with, and the one whose headers it was built with.
///
/// Answers to statements that were sent ahead (`Pipeline`) are read through the library's table of functions, which its
/// headers show but its makers may change. So only versions are used whose layout is known; there is no other way of
/// reading those answers to fall back on.
struct ClientLibrary: Sendable {
    /// The version in the library's own words.
    let name: String
    /// The version by number: 30320 is 3.3.20, and MySQL's own library counts from 50000 on.
    let running: Int
    /// The version of the headers, by number.
    let built: Int

    /// From 3.2.7 to the last 3.4, `st_mariadb_methods`, `st_mysql` and `st_mysql_stmt` are laid out alike as far as they
    /// are used here.
    ///
    /// Source: include/mysql.h and include/mariadb_stmt.h of https://github.com/mariadb-corporation/mariadb-connector-c.
    static let known = 30_207..<30_500

    /// The library that this program runs with.
    static var installed: ClientLibrary {
        ClientLibrary(
            name: String(cString: mysql_get_client_info()), running: Int(mysql_get_client_version()),
            built: Int(MARIADB_PACKAGE_VERSION_ID))
    }

    /// - Throws: `StoreError` with what to install, where the library is another than MariaDB Connector/C, or one of a
    ///   version whose layout is not known.
    func check() throws(StoreError) {
        guard Self.known.contains(running) else {
            throw StoreError(
                .other,
                "the database client library “\(name)” cannot be used: FieldMerge needs MariaDB Connector/C 3.2.7 or later, "
                    + "3.3 or 3.4 (Debian and Ubuntu: libmariadb3), and no other version, nor MySQL's own library")
        }
        guard Self.known.contains(built) else {
            throw StoreError(
                .other,
                "FieldMerge was built with the headers of MariaDB Connector/C \(Self.text(built)): build it again with "
                    + "those of 3.2.7 or later, 3.3 or 3.4 (Debian and Ubuntu: libmariadb-dev)")
        }
    }

    private static func text(_ number: Int) -> String {
        "\(number / 10_000).\(number / 100 % 100).\(number % 100)"
    }
}
