internal import CMariaDB
import RecordStore

/// Opens connections of the C client.
enum ClientConnection {
    private static let library: Int32 = mysql_server_init(0, nil, nil)

    /// Connects to the database.
    ///
    /// - Parameter readSeconds: how long the client waits for bytes of the server.
    static func open(
        _ configuration: MariaDBConfiguration, readSeconds: UInt32
    ) throws(StoreError) -> UnsafeMutablePointer<MYSQL> {
        let passwords = configuration.password.candidates
        var refusal: StoreError?
        for password in passwords {
            do {
                let mysql = try open(configuration, password: password, readSeconds: readSeconds)
                configuration.password.accept(password)
                return mysql
            } catch {
                guard ServerError.isRefusedLogin(error.code) else { throw error }
                refusal = refusal ?? error
            }
        }
        throw refusal ?? StoreError(.unavailable, "no password was tried")
    }

    private static func open(
        _ configuration: MariaDBConfiguration, password: String, readSeconds: UInt32
    ) throws(StoreError) -> UnsafeMutablePointer<MYSQL> {
        guard library == 0, let mysql = mysql_init(nil) else {
            throw StoreError(.other, "the MariaDB client library could not be initialised")
        }
        var seconds = configuration.limits.connectSeconds
        mysql_options(mysql, MYSQL_OPT_CONNECT_TIMEOUT, &seconds)
        var wait = readSeconds
        mysql_options(mysql, MYSQL_OPT_READ_TIMEOUT, &wait)
        mysql_options(mysql, MYSQL_OPT_WRITE_TIMEOUT, &wait)
        mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4")
        var off: my_bool = 0
        var on: my_bool = 1
        mysql_options(mysql, MYSQL_OPT_LOCAL_INFILE, &off)
        mysql_options(mysql, MYSQL_REPORT_DATA_TRUNCATION, &on)
        if configuration.requiresTLS {
            mysql_options(mysql, MYSQL_OPT_SSL_ENFORCE, &on)
            mysql_options(mysql, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &on)
            if let file = configuration.authorityFile { mysql_options(mysql, MYSQL_OPT_SSL_CA, file) }
        }
        let connected = mysql_real_connect(
            mysql, configuration.socket == nil ? configuration.host : "localhost", configuration.user,
            password, configuration.database, UInt32(configuration.port), configuration.socket,
            UInt(CLIENT_MULTI_RESULTS) | UInt(CLIENT_FOUND_ROWS))
        guard connected != nil else {
            var error = error(mysql, configuration.place)
            if ServerError.isRefusedLogin(error.code), let source = configuration.password.source {
                error = StoreError(error.kind, "\(error.message); \(source)", code: error.code)
            }
            mysql_close(mysql)
            throw [.unavailable, .disconnected].contains(error.kind)
                ? error : StoreError(.unavailable, error.message, code: error.code)
        }
        return mysql
    }

    static func error(_ mysql: UnsafeMutablePointer<MYSQL>, _ place: String) -> StoreError {
        ServerError(
            code: mysql_errno(mysql), state: String(cString: mysql_sqlstate(mysql)),
            text: String(cString: mysql_error(mysql)), place: place
        ).storeError
    }
}
