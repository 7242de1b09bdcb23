internal import CMariaDB
import RecordStore

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A connection of the C client on which the server sends its binary log, used only on its connection's thread.
final class BinlogHandle {
    private let mysql: UnsafeMutablePointer<MYSQL>
    private let log: UnsafeMutablePointer<MARIADB_RPL>
    /// The last event, whose memory the next one uses again.
    private var event: UnsafeMutablePointer<MARIADB_RPL_EVENT>?
    private let place: String
    private let health: ConnectionHealth

    /// Connects, and requests the events after a position.
    ///
    /// - Throws: `StoreError`, also if the client library cannot read binary logs.
    init(
        _ configuration: MariaDBConfiguration, after position: BinlogPosition, _ limits: BinlogLimits,
        _ health: ConnectionHealth
    ) throws(StoreError) {
        let mysql = try ClientConnection.open(configuration, readSeconds: limits.silenceSeconds)
        health.watch(socket: mysql_get_socket(mysql))
        do throws(StoreError) {
            try Self.prepare(mysql, place: configuration.place, after: position, limits: limits)
            // The server ends the older of two readers with the same number.
            guard let log = fieldmerge_rpl_begin(mysql, UInt32.random(in: 1 << 31 ... .max)) else {
                throw mysql_errno(mysql) == 0
                    ? Self.oldLibrary : ClientConnection.error(mysql, configuration.place)
            }
            self.log = log
        } catch {
            health.watch(socket: nil)
            mysql_close(mysql)
            throw error
        }
        self.mysql = mysql
        place = configuration.place
        self.health = health
    }

    private static let oldLibrary = StoreError(
        .other,
        "the database client library cannot read binary logs: install MariaDB Connector/C 3.3.5 or later, or scan")

    deinit {
        if let event { mariadb_free_rpl_event(event) }
        mariadb_rpl_close(log)
        // After the close, another file may have the socket's number.
        health.watch(socket: nil)
        mysql_close(mysql)
    }

    /// Source: MariaDB Knowledge Base, "Replica registration"; MariaDB, sql/slave.cc.
    private static func prepare(
        _ mysql: UnsafeMutablePointer<MYSQL>, place: String, after position: BinlogPosition, limits: BinlogLimits
    ) throws(StoreError) {
        let sql = """
            SET @mariadb_slave_capability = 4, @master_binlog_checksum = @@GLOBAL.binlog_checksum, \
            @master_heartbeat_period = \(limits.heartbeat.nanoseconds), @slave_connect_state = '\(position)', \
            @slave_gtid_strict_mode = 0, @slave_gtid_ignore_duplicates = 0
            """
        guard mysql_real_query(mysql, sql, UInt(sql.utf8.count)) == 0 else {
            throw ClientConnection.error(mysql, place)
        }
    }

    /// Waits until bytes of the server have arrived that the client library has not read.
    ///
    /// - Returns: false if none have arrived at the deadline.
    func receives(until deadline: ContinuousClock.Instant) -> Bool {
        var socket = pollfd(fd: Int32(mysql_get_socket(mysql)), events: Int16(POLLIN), revents: 0)
        return poll(&socket, 1, Int32(max(0, (deadline - .now).milliseconds))) > 0
    }

    /// The next message of the server.
    enum Message {
        case event([UInt8])
        /// The client library could not parse the event.
        case unreadable
    }

    /// Waits for the next event.
    func next() throws(BinlogReadError) -> Message {
        let next = mariadb_rpl_fetch(log, event)
        // After an error, the library has freed the event.
        event = next
        guard let next else { return try missing() }
        var length = 0
        guard let bytes = fieldmerge_rpl_bytes(next, &length) else { return .unreadable }
        return .event(Array(UnsafeBufferPointer(start: bytes, count: length)))
    }

    private func missing() throws(BinlogReadError) -> Message {
        let code = Int(mysql_errno(mysql))
        switch code {
        case 0: throw .ended
        case 1_236: throw .unusablePosition(String(cString: mysql_error(mysql)))
        // The library's own errors about events: CR_ERR_BINLOG_UNCOMPRESS to CR_BINLOG_SEMI_SYNC_ERROR.
        case 5_017...5_023: return .unreadable
        default: throw .failed(ClientConnection.error(mysql, place))
        }
    }
}

extension Duration {
    fileprivate var nanoseconds: Int64 {
        components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000
    }

    fileprivate var milliseconds: Int64 { nanoseconds / 1_000_000 }
}
