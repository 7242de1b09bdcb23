import FoundationEssentials

/// The address of the database, and the settings of connections to it.
package struct MariaDBConfiguration: Sendable {
    /// The server's name or address.
    package var host: String
    /// The server's port; 3306 if the URL has none.
    package var port: UInt16
    /// The path of a Unix socket; nil for a connection by host and port.
    package var socket: String?
    /// The database user's name.
    package var user: String
    /// The user's password, which all copies of the configuration share.
    package let password: DatabasePassword
    /// The schema to connect to.
    package var database: String
    /// True if the connection requires TLS and checks the server's certificate.
    package var requiresTLS: Bool
    /// The file with the trusted certificate authorities; nil for the system's.
    package var authorityFile: String?
    /// Limits on connections and waiting.
    package var limits: Limits

    /// Limits on one gateway's use of the server.
    package struct Limits: Sendable {
        /// Open connections.
        package var connections = 8
        /// Requests that may wait for a connection.
        package var waiters = 4_096
        /// Seconds for a connection attempt.
        package var connectSeconds: UInt32 = 5
        /// Seconds that a transaction may wait for row locks in all.
        package var lockWaitSeconds: UInt32 = 5
        /// Seconds that one statement may run.
        package var statementSeconds: UInt32 = 30

        /// Makes the default limits.
        package init() {}
    }

    /// Reads `mariadb://user@host[:port]/database[?socket=PATH][&tls=required][&ca=FILE]`.
    ///
    /// - Throws: `MariaDBURLError`; also if the URL contains a password, because lists of processes, histories and logs
    ///   contain URLs. The error never contains it.
    package init(
        url: String, password: DatabasePassword = DatabasePassword(nil), limits: Limits = Limits()
    ) throws(MariaDBURLError) {
        guard let parts = URLComponents(string: url), ["mariadb", "mysql"].contains(parts.scheme ?? "") else {
            throw MariaDBURLError("the database URL is not of the form mariadb://user@host:3306/database")
        }
        guard let user = parts.user, !user.isEmpty else {
            throw MariaDBURLError("the database URL names no user: mariadb://USER@host:3306/database")
        }
        guard parts.password == nil else {
            throw MariaDBURLError(
                "the database URL contains a password, which every user of the machine can read. Leave it out, and put it into "
                    + "FIELDMERGE_DATABASE_PASSWORD or with --database-password-file FILE")
        }
        let path = parts.path.hasPrefix("/") ? String(parts.path.dropFirst()) : parts.path
        guard !path.isEmpty, !path.contains("/") else {
            throw MariaDBURLError("the database URL names no database: mariadb://user@host:3306/DATABASE")
        }
        guard let port = UInt16(exactly: parts.port ?? 3306) else {
            throw MariaDBURLError("the port of the database URL is not one of 1 to 65535")
        }
        host = parts.host.flatMap { $0.isEmpty ? nil : $0 } ?? "localhost"
        self.port = port
        self.user = user
        self.password = password
        database = path
        socket = nil
        requiresTLS = false
        authorityFile = nil
        self.limits = limits
        for item in parts.queryItems ?? [] {
            switch (item.name, item.value) {
            case ("socket", .some(let value)) where !value.isEmpty: socket = value
            case ("tls", "required"): requiresTLS = true
            case ("tls", "off"): requiresTLS = false
            case ("ca", .some(let value)) where !value.isEmpty:
                authorityFile = value
                requiresTLS = true
            default:
                throw MariaDBURLError(
                    "the database URL has “\(item.name)”, which is not socket=PATH, tls=required, tls=off or ca=FILE")
            }
        }
    }

    /// The address of the server, without user or password, for messages.
    var place: String { socket ?? "\(host):\(port)" }
}
