internal import CMariaDB
import RecordStore

/// The C client library, at run time and at build time.
///
/// A `Pipeline` uses the library's internal table of functions, whose layout may change between versions. So only
/// versions with a known layout are used.
struct ClientLibrary: Sendable {
    /// The name and version as the library spells them.
    let name: String
    /// The version number: 30320 is 3.3.20, and MySQL's own library counts from 50000.
    let running: Int
    /// The version number of the headers.
    let built: Int

    /// The versions with the same layout of `st_mariadb_methods`, `st_mysql` and `st_mysql_stmt`, as far as they are
    /// used here.
    ///
    /// Source: include/mysql.h and include/mariadb_stmt.h of
    /// https://github.com/mariadb-corporation/mariadb-connector-c.
    static let known = 30_207..<30_500

    static var installed: ClientLibrary {
        ClientLibrary(
            name: String(cString: mysql_get_client_info()), running: Int(mysql_get_client_version()),
            built: Int(MARIADB_PACKAGE_VERSION_ID))
    }

    /// - Throws: `StoreError` that names the library to install, if this one is not MariaDB Connector/C with a known
    ///   layout.
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
