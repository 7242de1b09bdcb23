/// The type codes of events, as far as they are treated in a special way.
///
/// Source: MariaDB, sql/log_event.h; MySQL, libs/mysql/binlog/event/binlog_event.h.
enum BinlogEventType {
    static let query: UInt8 = 2
    static let stop: UInt8 = 3
    static let rotate: UInt8 = 4
    static let formatDescription: UInt8 = 15
    static let xid: UInt8 = 16
    static let tableMap: UInt8 = 19
    static let incident: UInt8 = 26
    static let xaPrepare: UInt8 = 38
    static let gtid: UInt8 = 162
    static let gtidList: UInt8 = 163
    static let compressedQuery: UInt8 = 165
    static let heartbeat: UInt8 = 27

    /// Events without data: STOP, ROTATE, ignorable events and MySQL's own positions; MariaDB's annotations, checkpoints
    /// and START_ENCRYPTION, because the server sends decrypted events.
    static let ignored: Set<UInt8> = [stop, rotate, 28, 29, 33, 34, 35, 36, 37, 160, 161, 164]
    /// INTVAR, RAND, USER_VAR and the events of LOAD DATA, which accompany a statement.
    static let statementLogged: Set<UInt8> = [5, 6, 8, 9, 10, 11, 12, 13, 14, 17, 18]
    /// Heartbeats of MariaDB and MySQL 8.
    static let heartbeats: Set<UInt8> = [heartbeat, 41]
    /// Flag of events that an unknowing reader may skip.
    static let ignorableFlag: UInt16 = 0x80
}
