import FoundationEssentials

/// The address of the database, and the settings of connections to it.
package struct MariaDBConfiguration: Sendable {
    /// The server's name or address.
    package var host: String
    /// The server's port, 3306 where the URL names none.
    package var port: UInt16
    /// The path of a Unix socket; nil goes by host and port.
    package var socket: String?
    /// The database user's name.
    package var user: String
    /// Their password; nil where they need none.
    package var password: String?
    /// The schema to connect to.
    package var database: String
    /// TLS is demanded and the server's certificate checked.
    package var requiresTLS: Bool
    /// File of the authorities that the server's certificate may come from; nil trusts the system's.
    package var authorityFile: String?
    /// Bounds on connections and on waiting.
    package var limits: Limits

    /// Bounds on what one gateway asks of the server.
    package struct Limits: Sendable {
        /// Connections open at once.
        package var connections = 8
        /// Requests that may wait for a connection.
        package var waiters = 4_096
        /// Seconds until a connection attempt is given up.
        package var connectSeconds: UInt32 = 5
        /// Seconds that a statement waits for a row lock before the transaction starts anew.
        package var lockWaitSeconds: UInt32 = 5
        /// Seconds that one statement may run.
        package var statementSeconds: UInt32 = 30

        /// Makes the bounds of an operator who gives none.
        package init() {}
    }

    /// Reads `mariadb://user@host[:port]/database[?socket=PATH][&tls=required][&ca=FILE]`.
    ///
    /// - Throws: `MariaDBURLError`, also where a password stands in the URL, which is never repeated: a URL is seen in lists
    ///   of processes, in histories and in logs.
    package init(url: String, password: String?, limits: Limits = Limits()) throws(MariaDBURLError) {
        guard let parts = URLComponents(string: url), ["mariadb", "mysql"].contains(parts.scheme ?? "") else {
            throw MariaDBURLError("the database URL is not of the form mariadb://user@host:3306/database")
        }
        guard let user = parts.user, !user.isEmpty else {
            throw MariaDBURLError("the database URL names no user: mariadb://USER@host:3306/database")
        }
        guard parts.password == nil else {
            throw MariaDBURLError(
                "the database URL holds a password, which everybody on the machine could read; leave it out, and give it in "
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
